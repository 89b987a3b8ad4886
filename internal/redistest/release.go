package redistest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Release is a server of a certain version: a test that asks for one cannot pass on another by mistake. The zero value is
// the installed server, whatever it is.
type Release struct {
	name    string // "Redis 8.0"
	program string // of those that .ci/servers brings; empty for the installed one
	field   string // of INFO, which has the version
	series  string // of versions: "8.0."
}

// The releases on which the tests of all clients run.
var (
	// Redis7 is the installed server. In CI that has to be Redis 7.0; at a desk another one stands in for it.
	Redis7 = Release{"Redis 7.0", "", "redis_version", "7.0."}
	// Redis8 and Valkey8 are those that .ci/servers has brought. Without them a test is skipped, or fails if CI=true.
	Redis8  = Release{"Redis 8.0", "redis-server-8", "redis_version", "8.0."}
	Valkey8 = Release{"Valkey 8.1", "valkey-server-8", "valkey_version", "8.1."}
)

// String returns the name, such as "Redis 8.0".
func (r Release) String() string {
	if r.name == "" {
		return "the installed server"
	}
	return r.name
}

// Start is [Start] for a server of this release.
func (r Release) Start(tb testing.TB, args ...string) *Server {
	tb.Helper()
	s := start(tb, r.binary(tb), freePort, args)
	if r != (Release{}) {
		r.check(tb, s)
	}
	return s
}

// binary finds the server, or skips the test: this is the only place that does.
func (r Release) binary(tb testing.TB) string {
	tb.Helper()
	name, advice := r.path()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if inCI() {
		tb.Fatalf("redistest: %v; %s", err, advice)
	}
	tb.Skipf("redistest: %v; %s", err, advice)
	return ""
}

// path says where the server should be, and how to get it there.
func (r Release) path() (name, advice string) {
	if r.program != "" {
		return filepath.Join(serversDir(), "bin", r.program), "this test needs " + r.name + ": bash .ci/servers"
	}
	name = os.Getenv("SLUICE_REDIS_SERVER")
	if name == "" {
		name = "redis-server"
	}
	return name, "this test needs a Redis server: apt-get install redis-server, or name the binary in SLUICE_REDIS_SERVER"
}

// serversDir is where .ci/servers puts what it brings.
func serversDir() string {
	if dir := os.Getenv("SLUICE_SERVERS"); dir != "" {
		return dir
	}
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		cache = filepath.Join(os.Getenv("HOME"), ".cache")
	}
	return filepath.Join(cache, "sluice-servers")
}

// check sees that the server is of the release, by its own word.
func (r Release) check(tb testing.TB, s *Server) {
	tb.Helper()
	c := Connect(s.Addr())
	defer c.Close()
	info := c.Info(tb, "server")
	if strings.HasPrefix(info[r.field], r.series) {
		return
	}
	if problem := fmt.Sprintf("%s is %s, want %s", s.bin, versionOf(info), r); r.program == "" && !inCI() {
		tb.Logf("redistest: %s; it stands in for it", problem)
	} else {
		tb.Fatalf("redistest: %s", problem)
	}
}

// versionOf reads what server it is. Valkey also names the version of Redis whose commands it has.
func versionOf(info map[string]string) string {
	if v := info["valkey_version"]; v != "" {
		return "Valkey " + v
	}
	return "Redis " + info["redis_version"]
}

func inCI() bool { return os.Getenv("CI") == "true" }
