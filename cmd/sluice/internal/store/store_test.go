package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9/logging"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/cmd/sluice/internal/store"
	"github.com/sluice-rate/sluice/internal/redistest"
)

func TestMain(m *testing.M) {
	logging.Disable() // as in main
	os.Exit(m.Run())
}

// open opens a store for the length of the test.
func open(t *testing.T, url string) *store.Store {
	t.Helper()
	s, err := store.Open(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// works takes permits of several limiters.
func works(t *testing.T, s *store.Store) {
	t.Helper()
	for i := range 5 {
		l := sluice.New(s).Limiter(fmt.Sprint("limiter", i))
		if _, err := l.TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(3, time.Hour)}); err != nil {
			t.Fatal(err)
		}
		if d, err := l.TryAcquire(t.Context(), 2); err != nil || !d.Allowed {
			t.Fatalf("TryAcquire = %v, %v, want it allowed", d, err)
		}
	}
}

func TestOpen_one_server(t *testing.T) {
	t.Parallel()
	works(t, open(t, redistest.Start(t).URL()))
}

func TestOpen_a_socket(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "s") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	redistest.Start(t, "--unixsocket", path)
	works(t, open(t, "unix://"+path))
}

func TestOpen_a_cluster(t *testing.T) {
	t.Parallel()
	nodes := redistest.StartCluster(t, 3)
	works(t, open(t, "redis://"+nodes[0].Addr()+","+nodes[1].Addr()))

	_, err := sluice.New(open(t, "redis://"+nodes[0].Addr())).Limiter("limiter0").Available(t.Context())
	if err == nil { // the limiter's slot happens to be on this node
		_, err = sluice.New(open(t, "redis://"+nodes[1].Addr())).Limiter("limiter0").Available(t.Context())
	}
	if text := open(t, nodes[0].URL()).Explain(err).Error(); !strings.Contains(text, "name several of its nodes") {
		t.Errorf("one node alone: %s, want how to name more", text)
	}
}

func TestExplain_leaves_other_errors_as_they_are(t *testing.T) {
	t.Parallel()
	s := open(t, "redis://127.0.0.1:1")
	if got := s.Explain(sluice.ErrNotInitialized); got != sluice.ErrNotInitialized {
		t.Errorf("Explain = %v, want the error itself", got)
	}
	odd := fmt.Errorf("redisengine: take: %w: the reply is 7, not a list", sluice.ErrStoreUnavailable)
	if got := s.Explain(odd).Error(); !strings.Contains(got, "127.0.0.1:1") || !strings.Contains(got, "the reply is 7") {
		t.Errorf("Explain = %v, want where it is and what it said", got)
	}
	lost := fmt.Errorf("redisengine: take: %w: %w", sluice.ErrStoreUnavailable, errors.New("EOF"))
	if got := s.Explain(lost).Error(); !strings.Contains(got, "does not answer: EOF;") {
		t.Errorf("Explain = %v, want the reason", got)
	}
}

func TestClient_does_not_try_again_and_again(t *testing.T) {
	t.Parallel()
	s := open(t, "redis://127.0.0.1:1")
	begin := time.Now()
	if _, err := sluice.New(s).Limiter("x").Available(t.Context()); !errors.Is(err, sluice.ErrStoreUnavailable) {
		t.Errorf("Available: %v, want ErrStoreUnavailable", err)
	}
	if took := time.Since(begin); took > time.Second {
		t.Errorf("it took %v, want one attempt", took)
	}
}
