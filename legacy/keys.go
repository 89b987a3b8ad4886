package legacy

import (
	"strings"

	"github.com/sluice-rate/sluice"
)

// keys is KEYS of the scripts: see lua/store.lua. All five lie in one slot of a cluster, since the limiter has checked the name.
func keys(key sluice.Key) []string {
	value, permits := suffixed(key.Limiter, "value"), suffixed(key.Limiter, "permits")
	return []string{key.Limiter, value, value + ":" + key.Client, permits, permits + ":" + key.Client}
}

// suffixed is Redisson's rule for the name of a key that belongs to another: a name with a brace in it is
// taken to have a hash tag; any other becomes one.
func suffixed(name, suffix string) string {
	if strings.Contains(name, "{") {
		return name + ":" + suffix
	}
	return "{" + name + "}:" + suffix
}
