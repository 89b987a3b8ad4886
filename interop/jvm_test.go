package interop

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-rate/sluice/interop/jvm"
)

// versions are those of Redisson whose limiter has the format that this library keeps. 4.4.0 and later are not tested here.
var versions = []string{"3.24.3", "3.38.0", "3.52.0", "4.0.0", "4.3.1"}

// drivers are the Java processes of this test process, one for each version, started when the first test needs it.
var drivers sync.Map // version: func() (*jvm.Driver, error)

// redisson is the Java process with a version of Redisson.
func redisson(tb testing.TB, version string) *jvm.Driver {
	tb.Helper()
	if err := jvm.Missing(); err != nil {
		missing(tb, err.Error())
	}
	start, _ := drivers.LoadOrStore(version, sync.OnceValues(func() (*jvm.Driver, error) { return jvm.Start(version, jvm.Options{}) }))
	d, err := start.(func() (*jvm.Driver, error))()
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// missing skips a test for which the machine lacks something, but fails it in CI.
func missing(tb testing.TB, what string) {
	tb.Helper()
	if os.Getenv("CI") != "" {
		tb.Fatal(what)
	}
	tb.Skip(what)
}

func TestMain(m *testing.M) {
	flag.Parse()
	parallel := false
	flag.Visit(func(f *flag.Flag) { parallel = parallel || f.Name == "test.parallel" })
	if !parallel {
		flag.Set("test.parallel", "80") // these tests wait most of the time
	}
	status := m.Run()
	drivers.Range(func(version, start any) bool {
		d, err := start.(func() (*jvm.Driver, error))()
		if err != nil {
			return true
		}
		if text := d.Complaints(); text != "" {
			fmt.Printf("FAIL: Redisson %s complained:\n%s\n", version, text)
			status = max(status, 1)
		}
		if err := d.Close(); err != nil {
			fmt.Printf("FAIL: Redisson %s: %v\n", version, err)
			status = max(status, 1)
		}
		return true
	})
	os.Exit(status)
}

// java is a client of a Redisson.
type java struct {
	*jvm.Driver
	client string
	id     string
}

// open makes a client that is closed when the test ends.
func open(tb testing.TB, d *jvm.Driver, url string) *java {
	tb.Helper()
	j := &java{Driver: d, client: strings.ReplaceAll(tb.Name(), "\t", " ") + fmt.Sprint(serial())}
	if _, err := d.Do(tb.Context(), "open", j.client, strings.TrimSuffix(url, "/0")); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if _, err := d.Do(ctx, "close", j.client); err != nil {
			tb.Error(err)
		}
	})
	id, err := d.Do(tb.Context(), "id", j.client)
	if err != nil {
		tb.Fatal(err)
	}
	j.id = id
	return j
}

var serial = func() func() int {
	var mu sync.Mutex
	n := 0
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		n++
		return n
	}
}()
