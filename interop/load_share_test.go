package interop

import (
	"fmt"
	"testing"
	"time"
)

// share is what one got who wants more.
type share struct {
	grants  int
	permits int64
	last    int64         // when
	pause   time.Duration // the longest between two grants
	passed  int64         // the most permits that went to Java meanwhile
	javas   int64         // what Java had at the last
}

func (s share) String() string {
	return fmt.Sprintf("%d permits; none for %v at most; Java got %d meanwhile at most", s.permits, s.pause, s.passed)
}

func (s *share) got(u use, javas int64) {
	if s.grants > 0 {
		s.pause = max(s.pause, time.Duration(u.at-s.last)*time.Microsecond)
		s.passed = max(s.passed, javas-s.javas)
	}
	s.grants++
	s.permits += u.permits
	s.last, s.javas = u.at, javas
}

// shares are those of Java, and of Go's processes; the last is what Acquire took, of all of them.
func (h *history) shares() (java share, procs [loadWorkers + 1]share) {
	for _, u := range h.uses {
		switch u.who {
		case byJava:
			java.got(u, java.permits)
		case byAcquire:
			procs[loadWorkers].got(u, java.permits)
		default:
			procs[u.who].got(u, java.permits)
		}
	}
	// Until the end Java may have gone on alone.
	for i := range procs {
		procs[i].passed = max(procs[i].passed, java.permits-procs[i].javas)
	}
	return java, procs
}

// starving sees that Go as a whole and each of its processes got enough. A pause by itself proves nothing: the machine may have stood still. What
// counts is how much Java got meanwhile. Our waiters keep the date that they were promised, one interval ahead at most as their line is short, and in
// one interval Java gets at most what the fullest window holds: twice the rate.
//
// A Java whose clock is ahead has what it frees too early before anybody else can: with four threads that ask without a pause, some 70 % of all. Among
// Redisson's own clients the others are left with a twentieth then.
func (l *loadRun) starving(t *testing.T, java share, procs [loadWorkers + 1]share, total int64) {
	t.Helper()
	if java.grants == 0 {
		t.Error("Java got nothing")
	}
	least, each := 100.0/3, 4.0
	if l.ahead > 0 {
		least, each = 10, 1
	}
	if got := percentOf(total-java.permits, total); got < least {
		t.Errorf("Go got %.1f %% of the permits, want %.1f", got, least)
	}
	for i, p := range procs[:loadWorkers] {
		if p.passed > 2*loadRate {
			t.Errorf("Java got %d permits while process %d of Go got none, want at most those of one window", p.passed, i)
		}
		if got := percentOf(p.permits, total); got < each {
			t.Errorf("process %d of Go got %.1f %% of the permits, want %.1f", i, got, each)
		}
	}
}
