package interop

import (
	"flag"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
	"github.com/sluice-rate/sluice/interop/jvm"
)

var loadSeconds = flag.Int("load.seconds", 0, "how long TestLoad works on each limiter; 0: 60 with the newest Redisson, 10 with the oldest, 3 in -short")

const (
	loadRate     = 1000
	loadInterval = time.Second
	loadThreads  = 4 // of Java
	loadWorkers  = 4 // processes of Go
)

// TestLoad has four threads of Java and four processes of Go on one limiter, all of which want more than there is: first with one clock for all, then with
// Java's clock 200 ms ahead. It follows every entry of the ledger from the command that added it to the one that took it
// out. So each permit above the rate is laid to the call of Java's that is its reason, or to us.
//
//	go -C interop test -run 'TestLoad$' -v .
func TestLoad(t *testing.T) {
	if playsPart(t) {
		return
	}
	for _, version := range []string{versions[0], versions[len(versions)-1]} {
		for _, ahead := range []time.Duration{0, 200 * time.Millisecond} {
			t.Run(fmt.Sprintf("%s/%v_ahead", version, ahead), func(t *testing.T) { // one after another: they need the machine
				shareLoad(t, version, ahead)
			})
		}
	}
}

func loadTime(version string) time.Duration {
	switch {
	case *loadSeconds > 0:
		return time.Duration(*loadSeconds) * time.Second
	case testing.Short():
		return 3 * time.Second
	case version == versions[0]:
		return 10 * time.Second
	}
	return time.Minute
}

func shareLoad(t *testing.T, version string, ahead time.Duration) {
	if err := jvm.Missing(); err != nil {
		missing(t, err.Error())
	}
	took := loadTime(version)
	d, err := jvm.Start(version, jvm.Options{Env: shifted(t, ahead)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if text := d.Complaints(); text != "" {
			t.Errorf("Redisson complained:\n%s", text)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	checkClock(t, d, ahead)
	server := redistest.Start(t)
	j := open(t, d, server.URL())
	g := newGopher(t, server.URL(), "load")
	if _, err := g.limiter.TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(loadRate, loadInterval)}); err != nil {
		t.Fatal(err)
	}
	followed := follow(t, server.Addr(), "load")
	if _, err := d.Do(t.Context(), "load", j.client, "load", "4", "300", "mixed", "1000"); err != nil { // what runs for the first time is slow
		t.Fatal(err)
	}
	time.Sleep(2*loadInterval + ahead)

	begin := time.Now().UnixMicro() // Redis runs on this machine
	parts := startParts(t, server.URL(), took)
	answer, err := d.Do(t.Context(), "load", j.client, "load", strconv.Itoa(loadThreads), strconv.FormatInt(took.Milliseconds(), 10), "mixed", "500")
	if err != nil {
		t.Fatal(err)
	}
	gos := parts()
	r := followed()
	run := &loadRun{version: version, ahead: ahead, took: took, answer: answer, replay: r, history: historyOf(r, gos, begin)}
	run.judge(t)
	if _, err := g.limiter.TryAcquire(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	st := &stage{t: t, conn: redistest.Dial(t, server.Addr()), name: "load"}
	if err := st.conserving(); err != nil {
		t.Error(err)
	}
}

// shifted is the environment of a process whose clock is ahead.
func shifted(t *testing.T, ahead time.Duration) []string {
	t.Helper()
	if ahead == 0 {
		return nil
	}
	libraries, _ := filepath.Glob("/usr/lib/*/faketime/libfaketime.so.1")
	if len(libraries) == 0 {
		missing(t, "no libfaketime; to have it: apt-get install faketime")
	}
	return []string{"LD_PRELOAD=" + libraries[0], fmt.Sprintf("FAKETIME=+%.3f", ahead.Seconds()), "FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1"}
}

// checkClock sees that Java's clock is where it should be.
func checkClock(t *testing.T, d *jvm.Driver, ahead time.Duration) {
	t.Helper()
	before := time.Now()
	text, err := d.Do(t.Context(), "now")
	if err != nil {
		t.Fatal(err)
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if is := time.UnixMilli(ms); is.Before(before.Add(ahead-2*time.Millisecond)) || is.After(time.Now().Add(ahead)) {
		t.Fatalf("Java's clock is ahead by about %v, want %v", is.Sub(before), ahead)
	}
}
