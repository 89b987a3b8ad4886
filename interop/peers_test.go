package interop

import (
	"testing"

	"github.com/sluice-rate/sluice/redisengine"
)

// TestPeers runs what testdata/peers tells: what is different for those who declare their Java peers.
func TestPeers(t *testing.T) {
	t.Parallel()
	all := sections(t, "testdata/peers/*.txt")
	some := versions
	if testing.Short() {
		some = some[len(some)-1:]
	}
	for _, version := range some {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			runSections(t, redisson(t, version), all, func(tb testing.TB, url, limiter string) *gopher {
				return newGopherWith(tb, url, limiter, &redisengine.Options{JavaPeers: true})
			})
		})
	}
}
