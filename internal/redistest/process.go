package redistest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// errExited says that the server ended before it answered.
var errExited = errors.New("redis-server exited")

// process is one run of the server.
type process struct {
	cmd    *exec.Cmd
	log    string        // file with what it printed
	exited chan struct{} // closed when it has ended and has been waited for
}

// startProcess runs bin in dir. A goroutine waits for the process and ends with it.
func startProcess(bin, dir string, args []string) (*process, error) {
	p := &process{
		cmd:    exec.Command(bin, args...),
		log:    filepath.Join(dir, "redis.log"),
		exited: make(chan struct{}),
	}
	out, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p.cmd.Dir = dir
	p.cmd.Stdout = out
	p.cmd.Stderr = out
	dieWithParent(p.cmd)

	started := make(chan error)
	go func() {
		// The kernel takes the thread that forked, not the process, for the parent
		// whose death ends the child. So this thread stays until the child is gone.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.exited)
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// awaitAnswer waits until the server at addr answers a PING and is this process:
// a port that was lost in a race may belong to another Redis.
func (p *process) awaitAnswer(addr string) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	c := Connect(addr)
	defer c.Close()
	for {
		err := p.answers(ctx, c)
		if err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("%w: %v\n%s", errExited, p.cmd.ProcessState, p.output())
		case <-ctx.Done():
			return fmt.Errorf("no answer within %v: %w\n%s", startTimeout, err, p.output())
		case <-time.After(pollInterval):
		}
	}
}

func (p *process) answers(ctx context.Context, c *Conn) error {
	// Short, for whoever has our port may accept and say nothing.
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if _, err := c.Do(ctx, "PING"); err != nil {
		return err
	}
	text, err := c.Do(ctx, "INFO", "server")
	if err != nil {
		return err
	}
	if pid := parseInfo(text)["process_id"]; pid != strconv.Itoa(p.cmd.Process.Pid) {
		return fmt.Errorf("the port belongs to process %s, not to our %d", pid, p.cmd.Process.Pid)
	}
	return nil
}

// kill ends the process and returns when it is gone, at once if it was already.
func (p *process) kill() {
	p.cmd.Process.Kill()
	<-p.exited
}

// output returns the end of what the server printed, for error messages.
func (p *process) output() string {
	b, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}
