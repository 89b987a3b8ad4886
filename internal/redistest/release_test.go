package redistest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-rate/sluice/internal/redistest"
)

func TestRelease(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		release       redistest.Release
		name          string
		field, series string
	}{
		{redistest.Redis8, "Redis 8.0", "redis_version", "8.0."},
		{redistest.Valkey8, "Valkey 8.1", "valkey_version", "8.1."},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := test.release.String(); got != test.name {
				t.Errorf("String() = %q, want %q", got, test.name)
			}
			s := test.release.Start(t)
			c := redistest.Dial(t, s.Addr())
			for range 2 { // a restart keeps the release
				if got := c.Info(t, "server")[test.field]; !strings.HasPrefix(got, test.series) {
					t.Errorf("%s = %q, want %s…", test.field, got, test.series)
				}
				s.Restart(t)
			}
		})
	}
}

// Whoever asks for a release gets that or none.
func TestReleaseThatIsNotThere(t *testing.T) {
	t.Parallel()
	empty, wrong := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(wrong, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(redistest.Valkey8.Start(t).Binary(), filepath.Join(wrong, "bin", "redis-server-8")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, mode, dir, ci string
		want                []string
		passes              bool
	}{
		{"none at a desk", "start Redis 8.0", empty, "CI=", []string{"--- SKIP", "bash .ci/servers"}, true},
		{"none in CI", "start Redis 8.0", empty, "CI=true", []string{"--- FAIL", "bash .ci/servers"}, false},
		{"another at a desk", "start Redis 8.0", wrong, "CI=", []string{"--- FAIL", "is Valkey 8.1", "want Redis 8.0"}, false},
		{"another in CI", "start Redis 8.0", wrong, "CI=true", []string{"--- FAIL", "is Valkey 8.1", "want Redis 8.0"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			out, passed := child(t, test.mode, "SLUICE_SERVERS="+test.dir, test.ci)
			wantChild(t, out, passed, test.passes, test.want...)
		})
	}
}

// The installed server need not be of a release at a desk.
func TestStandInForRelease(t *testing.T) {
	t.Parallel()
	valkey := "SLUICE_REDIS_SERVER=" + redistest.Valkey8.Start(t).Binary()
	out, passed := child(t, "start Redis 7.0", valkey, "CI=")
	wantChild(t, out, passed, true, "is Valkey 8.1", "want Redis 7.0", "stands in")
	out, passed = child(t, "start Redis 7.0", valkey, "CI=true")
	wantChild(t, out, passed, false, "is Valkey 8.1", "want Redis 7.0")
}

func wantChild(t *testing.T, out string, passed, passes bool, want ...string) {
	t.Helper()
	for _, text := range want {
		if passed != passes || !strings.Contains(out, text) {
			t.Errorf("passed = %v, want %v and %q in:\n%s", passed, passes, text, out)
		}
	}
}
