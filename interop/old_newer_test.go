package interop

import (
	"testing"

	"github.com/sluice-rate/sluice/internal/redistest"
)

// TestOldThenNewer has a newer Java come to a ledger that an old one has left. It reads nothing of it while that is in the window. Then it fails on entries of
// 8 bytes for ever, or takes those of 20 for other numbers, until one take of Go's has cleared them away.
func TestOldThenNewer(t *testing.T) {
	t.Parallel()
	newer := versions[len(versions)-1]
	for _, old := range oldVersions {
		t.Run(old, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			on := func(version string) *stage {
				return &stage{t: t, driver: redisson(t, version), hire: newGopher, server: server, conn: redistest.Dial(t, server.Addr()), name: "left",
					javas: make(map[string]*java), gophers: make(map[string]*gopher), going: make(map[string]going)}
			}
			left, comes := on(old), on(newer)
			left.client("java")
			comes.client("java")
			run := func(s *stage, steps ...string) {
				t.Helper()
				for i, text := range steps {
					st, err := readStep(text)
					if err != nil {
						t.Fatal(err)
					}
					st.line = i + 1
					s.step(st)
				}
			}
			run(left, "java trySetRate OVERALL 5 3 SECONDS = true", "java tryAcquire 2 = true", "java tryAcquire 1 = true", "sleep 3.2s")
			switch {
			case before(old, "3.16.4"):
				run(comes, "java tryAcquire 1 = ! data string too short", "java availablePermits = ! data string too short")
			case before(old, "3.17.0"):
				run(comes, "java availablePermits = 6..9000000000")
			}
			run(comes, "go TryAcquire 1 = true 4 left", "java availablePermits = 4", "java tryAcquire 4 = true", "sleep 3.2s",
				"java tryAcquire 5 = true", "conserving")
		})
	}
}
