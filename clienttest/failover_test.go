package clienttest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
)

// TestMasterDies kills a master whose replica lacks the last writes. What was written before has come through; what was lost is
// forgotten, not half known; and those who waited meanwhile have their turn.
func TestMasterDies(t *testing.T) {
	forEachWatched(t, func(f *failover) {
		const turn = 4 * time.Second // longer than the switch takes
		used := f.limiter(sluice.Config{Rate: sluice.Per(10, time.Hour)})
		f.take(used, 4)
		queue := f.limiter(sluice.Config{Rate: sluice.Per(1, turn)})
		f.take(queue, 1)
		first := f.acquire(queue)
		await(f.T, "the first caller waits", func() bool { return f.node.Int(f, "ZCARD", queue.Name()+":permits") == 2 })

		f.cut()
		lost := f.take(used, 3)
		second := f.acquire(queue)
		await(f.T, "the second caller waits", func() bool { return f.node.Int(f, "ZCARD", queue.Name()+":permits") == 3 })
		young := f.limiter(sluice.Config{Rate: sluice.Per(1, time.Hour)})
		f.master.Stop()
		f.replica.Resume()

		f.takeWhenItCan(used)
		f.wantAvailable(used, 10-4-1)
		if n, err := used.Refund(f.Context(), lost.Receipt); n != 0 || err != nil {
			f.Errorf("Refund() of what was lost = %d, %v, want 0", n, err)
		}
		if _, err := young.TryAcquire(f.Context(), 1); !errors.Is(err, sluice.ErrNotInitialized) {
			f.Errorf("TryAcquire(1) of a limiter that was lost: %v, want ErrNotInitialized", err)
		}
		if done, err := young.TrySetRate(f.Context(), sluice.Config{Rate: sluice.Per(1, time.Hour)}); !done || err != nil {
			f.Errorf("TrySetRate() of a limiter that was lost = %v, %v, want true", done, err)
		}
		f.take(young, 1)

		a, b := <-first, <-second
		if a.err != nil || b.err != nil {
			f.Errorf("the callers who waited: %v and %v, want their turns", a.err, b.err)
		}
		if apart := b.at.Sub(a.at); apart < turn-100*time.Millisecond || apart > 2*turn {
			f.Errorf("the second caller's turn was %v after the first one's, want about %v", apart, turn)
		}

		// The old master is a replica now, and changes nothing.
		f.master.Restart(f)
		f.awaitReplica(f.master)
		f.take(used, 1)
		f.wantAvailable(used, 10-4-2)
	})
}

// TestMasterIsReplaced has the sentinels put the replica in the place of a master that lives: its connections stay, and lead
// to a server that takes no writes any more.
func TestMasterIsReplaced(t *testing.T) {
	forEachWatched(t, func(f *failover) {
		l := f.limiter(sluice.Config{Rate: sluice.Per(1000, time.Hour)})
		f.take(l, 400)
		f.sync()
		if _, err := redistest.Dial(f, f.watched.Addrs()[0]).Do(f.Context(), "SENTINEL", "FAILOVER", redistest.MasterName); err != nil {
			f.Fatal(err)
		}
		var taken int64
		await(f.T, "the master is another, and grants", func() bool {
			there := f.watched.Master(f) == f.replica
			granted := f.try(l)
			if granted {
				taken++
			}
			return granted && there
		})
		f.awaitReplica(f.master)
		f.take(l, 100)
		// Until it learned of its fate the old master has granted what it could, and that is forgotten.
		n, err := l.Available(f.Context())
		if err != nil || n < 500-taken || n > 500 {
			f.Errorf("Available() = %d, %v, want 500 less what was taken meanwhile, %d at most", n, err, taken)
		}
	})
}

// failover is a place whose master is about to change.
type failover struct {
	*place
	watched         *redistest.Watched
	master, replica *redistest.Server
	node            *redistest.Conn // to the master
}

// forEachWatched runs a test over each of the clients that ask sentinels, on a master with a replica and three of them.
func forEachWatched(t *testing.T, test func(f *failover)) {
	t.Parallel()
	for i, release := range releases {
		for _, c := range failoverClients {
			t.Run(release.String()+"/"+c.name, func(t *testing.T) {
				if i > 0 && testing.Short() {
					t.Skip("only on the first release, as this is short")
				}
				t.Parallel()
				w := release.StartSentinels(t, 1, 3)
				engine := c.open(t, target{addrs: w.Addrs()})
				test(&failover{
					place:   &place{T: t, kind: c, engine: engine, client: sluice.New(engine)},
					watched: w, master: w.Servers[0], replica: w.Servers[1],
					node: redistest.Dial(t, w.Servers[0].Addr()),
				})
			})
		}
	}
}

// sync waits until the replica has all that was written. WAIT is about the writes of its own connection, so there is one, and
// all others were before it.
func (f *failover) sync() {
	f.Helper()
	replies, err := f.node.Pipeline(f.Context(), [][]any{{"SET", "sync", 1}, {"DEL", "sync"}, {"WAIT", 1, 10_000}})
	if err != nil || replies[2] != int64(1) {
		f.Fatalf("WAIT = %v, %v, want that 1 replica has what was written", replies, err)
	}
}

// cut parts the replica from its master when it has all that was written, and freezes it, so that it gets nothing more.
func (f *failover) cut() {
	f.Helper()
	f.sync()
	f.replica.Pause()
	if n := f.node.Int(f, "CLIENT", "KILL", "TYPE", "replica"); n != 1 {
		f.Fatalf("the master has parted from %d replicas, want 1", n)
	}
}

// takeWhenItCan takes a permit as soon as there is a master, at the latest some seconds after the end of the old one.
func (f *failover) takeWhenItCan(l *sluice.Limiter) {
	f.Helper()
	start := time.Now()
	await(f.T, "the limiter grants again", func() bool { return f.try(l) })
	f.Logf("granted again after %v", time.Since(start).Round(time.Millisecond))
}

// try takes a permit if there is somebody to ask. Any trouble is the store's, and none is a script's.
func (f *failover) try(l *sluice.Limiter) (granted bool) {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.Context(), time.Second)
	defer cancel()
	d, err := l.TryAcquire(ctx, 1)
	switch {
	case err == nil && !d.Allowed:
		f.Fatalf("TryAcquire(1) = %+v, want allowed", d)
	case err != nil && !errors.Is(err, sluice.ErrStoreUnavailable):
		f.Fatalf("TryAcquire(1): %v, want ErrStoreUnavailable", err)
	case err != nil:
		f.wantNoScriptError(err)
	}
	return err == nil
}

// wantNoScriptError accepts what a server says that may not serve, and trouble with connections.
func (f *failover) wantNoScriptError(err error) {
	f.Helper()
	said := ""
	if e, ok := errors.AsType[redis.Error](err); ok {
		said = e.Error()
	} else if e, ok := errors.AsType[*rueidis.RedisError](err); ok {
		said = e.Error()
	}
	for _, fine := range []string{"READONLY", "LOADING", "MASTERDOWN"} {
		if strings.HasPrefix(said, fine) {
			return
		}
	}
	if said != "" {
		f.Errorf("the server says %q", said)
	}
}

// turn is the outcome of a wait.
type turn struct {
	at  time.Time
	err error
}

// acquire waits for one permit in a goroutine.
func (f *failover) acquire(l *sluice.Limiter) <-chan turn {
	done := make(chan turn, 1)
	go func() {
		ctx, cancel := context.WithTimeout(f.Context(), time.Minute)
		defer cancel()
		err := l.Acquire(ctx, 1)
		done <- turn{time.Now(), err}
	}()
	return done
}

// awaitReplica waits until a server that was master before follows the new one.
func (f *failover) awaitReplica(s *redistest.Server) {
	f.Helper()
	node := redistest.Connect(s.Addr())
	defer node.Close()
	await(f.T, "the old master is a replica", func() bool {
		reply, err := node.Do(f.Context(), "INFO", "replication")
		info, _ := reply.(string)
		return err == nil && strings.Contains(info, "role:slave") && strings.Contains(info, "master_link_status:up")
	})
}
