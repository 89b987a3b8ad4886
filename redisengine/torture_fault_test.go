//go:build unix

package redisengine_test

import (
	"bytes"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/sluice-rate/sluice/internal/redistest"
)

const (
	away        = time.Second // for how long a process or the server is stopped
	faultGrants = 40_000 / (tortureEase * tortureEase)
)

// TestTortureWithCrashes kills one of the processes, with waiters in line, and stops another for a second. What was granted
// to the dead one is lost until it leaves the window, and its waiters' turns pass; nobody else is held up by that.
func TestTortureWithCrashes(t *testing.T) {
	const killed, stopped = 3, 5
	r := startTorture(t, redistest.Start(t), killed, stopped)
	r.await(faultGrants / 2)
	r.signal(killed, syscall.SIGKILL)
	r.signal(stopped, syscall.SIGSTOP)
	time.Sleep(away)
	r.signal(stopped, syscall.SIGCONT)
	r.await(faultGrants)
	r.stop()
	r.mend(killed)
	r.judge(faultGrants / 2)
}

// mend takes off the line in the midst of which a process was killed.
func (r *torture) mend(part int) {
	r.t.Helper()
	for _, l := range limiters {
		name := recordName(r.dir, l, part)
		text, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(name, text[:bytes.LastIndexByte(text, '\n')+1], 0o600)
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *torture) signal(part int, s syscall.Signal) {
	r.t.Helper()
	if err := r.parts[part].cmd.Process.Signal(s); err != nil {
		r.t.Errorf("part %d: %v", part, err)
	}
}

// TestTortureWithServerAway stops the server for a second and later kills it and starts it again on what it has written to
// disk. Calls fail meanwhile; the laws hold.
func TestTortureWithServerAway(t *testing.T) {
	// It writes to the file before it answers, so a crash of the server alone loses nothing that a caller knows of.
	server := redistest.Start(t, "--appendonly", "yes", "--appendfsync", "no")
	r := startTorture(t, server, nobody)
	r.await(faultGrants / 3)
	r.undisturbed.Lock() // whether a change that fails has been made is not known, and the oracle has to know
	server.Pause()
	time.Sleep(away)
	server.Resume()
	r.undisturbed.Unlock()
	r.await(faultGrants * 2 / 3)
	r.undisturbed.Lock()
	server.Stop()
	time.Sleep(away / 2)
	server.Restart(t)
	r.undisturbed.Unlock()
	r.await(faultGrants)
	r.stop()
	r.judge(faultGrants / 2)
}
