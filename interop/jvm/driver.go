package jvm

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Driver is a Java process with one version of Redisson in it. It is safe for concurrent use.
type Driver struct {
	Version string

	process *exec.Cmd
	stdin   io.WriteCloser
	stderr  *os.File

	mu      sync.Mutex
	last    int
	waiting map[int]chan string // the calls that have no answer yet, by number
	over    error               // why there will be no more answers
}

// Options change how a process is started.
type Options struct {
	Env   []string // besides this process's, such as a library that shifts the clock
	Flags []string // for java, before the class
}

// Thrown says that Java threw an exception: which, and why.
type Thrown struct{ Class, Message string }

func (e *Thrown) Error() string { return e.Class + ": " + e.Message }

// modules of java.base into which Redisson up to 3.13 looks by reflection, which JDK 17 allows no more by itself.
var opened = []string{"java.lang", "java.util", "java.io", "java.util.concurrent", "java.math", "java.text", "java.net"}

// Start starts a process, which its caller closes. Complaints says what Java says of itself.
func Start(version string, o Options) (*Driver, error) {
	if err := Missing(); err != nil {
		return nil, err
	}
	lib, err := build(version)
	if err != nil {
		return nil, err
	}
	stderr, err := os.CreateTemp("", "redisson-"+version+"-")
	if err != nil {
		return nil, err
	}
	args := slices.Clone(o.Flags)
	for _, name := range opened {
		args = append(args, "--add-opens=java.base/"+name+"=ALL-UNNAMED")
	}
	args = append(args, "-Xmx512m", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", filepath.Join(lib, "*"), "sluice.Driver")
	d := &Driver{Version: version, process: exec.Command("java", args...), stderr: stderr, waiting: make(map[int]chan string)}
	d.process.Env = append(os.Environ(), o.Env...)
	d.process.Stderr = stderr
	dieWithParent(d.process)
	if d.stdin, err = d.process.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := d.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := d.process.Start(); err != nil {
		return nil, err
	}
	go d.listen(stdout)
	return d, nil
}

// listen hands the answers out.
func (d *Driver) listen(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		number, answer, _ := strings.Cut(lines.Text(), "\t")
		n, _ := strconv.Atoi(number)
		d.mu.Lock()
		if c, ok := d.waiting[n]; ok {
			c <- answer
			delete(d.waiting, n)
		}
		d.mu.Unlock()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = fmt.Errorf("the Java process of Redisson %s has ended; what it said is in %s", d.Version, d.stderr.Name())
	for _, c := range d.waiting {
		close(c)
	}
	clear(d.waiting)
}

// Do sends a command and waits for its answer. The error is an *Thrown when Java threw something.
func (d *Driver) Do(ctx context.Context, command ...string) (string, error) {
	c, err := d.send(command)
	if err != nil {
		return "", err
	}
	select {
	case answer, ok := <-c:
		if !ok {
			return "", d.over
		}
		if value, ok := strings.CutPrefix(answer, "ok\t"); ok {
			return value, nil
		}
		fields := strings.SplitN(answer, "\t", 3)
		if len(fields) < 3 {
			return "", fmt.Errorf("the driver answered %q to %q", answer, command)
		}
		return "", &Thrown{fields[1], fields[2]}
	case <-ctx.Done():
		return "", fmt.Errorf("no answer from Redisson %s to %q: %w", d.Version, command, ctx.Err())
	}
}

func (d *Driver) send(command []string) (chan string, error) {
	for _, field := range command {
		if strings.ContainsAny(field, "\t\n") {
			return nil, fmt.Errorf("the driver takes no tabs and line ends: %q", field)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over != nil {
		return nil, d.over
	}
	d.last++
	c := make(chan string, 1)
	d.waiting[d.last] = c
	_, err := fmt.Fprintf(d.stdin, "%d\t%s\n", d.last, strings.Join(command, "\t"))
	return c, err
}

// Call calls a method of RRateLimiter. Arguments are Java's words: OVERALL, 5, SECONDS, PT1.5S.
func (d *Driver) Call(ctx context.Context, client, limiter, method string, args ...string) (string, error) {
	return d.Do(ctx, append([]string{"call", client, limiter, method}, args...)...)
}

// Complaints is what Java has logged as a warning or an error, or has printed, since it was started.
func (d *Driver) Complaints() string {
	text, err := os.ReadFile(d.stderr.Name())
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Close ends the process.
func (d *Driver) Close() error {
	d.stdin.Close()
	ended := make(chan error, 1)
	go func() { ended <- d.process.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-time.After(10 * time.Second):
		d.process.Process.Kill()
		err = errors.Join(errors.New("the Java process had to be killed"), <-ended)
	}
	d.stderr.Close()
	os.Remove(d.stderr.Name())
	return err
}
