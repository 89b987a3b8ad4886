package redisengine

import (
	"strings"

	"github.com/sluice-rate/sluice"
)

// suffixed is Redisson's rule for the name of a key that belongs to another: a name with a brace in it is
// taken to have a hash tag; any other becomes one.
func suffixed(name, suffix string) string {
	if strings.Contains(name, "{") {
		return name + ":" + suffix
	}
	return "{" + name + "}:" + suffix
}

// pair is the value and the ledger that count for a client in a mode.
func pair(key sluice.Key, mode sluice.Mode) (value, permits string) {
	value, permits = suffixed(key.Limiter, "value"), suffixed(key.Limiter, "permits")
	if mode == sluice.PerClient {
		value, permits = value+":"+key.Client, permits+":"+key.Client
	}
	return value, permits
}

// stateKeys is KEYS of the scripts that work on the ledger.
func stateKeys(key sluice.Key, mode sluice.Mode) []string {
	value, permits := pair(key, mode)
	return []string{key.Limiter, value, permits}
}

// allKeys is KEYS of the scripts that work on a whole limiter: the configuration, the pair of this mode, and the
// pair of the other.
func allKeys(key sluice.Key, mode sluice.Mode) []string {
	value, permits := pair(key, sluice.Overall+sluice.PerClient-mode)
	return append(stateKeys(key, mode), value, permits)
}
