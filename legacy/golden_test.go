package legacy_test

import (
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/redistest"
)

// The bytes in Redis are those of Redisson 3.12.5. What is expected here was written down from its scripts and from what it stored, not
// from what this package stores.
func TestGolden(t *testing.T) {
	for _, release := range []redistest.Release{{}, redistest.Redis8, redistest.Valkey8} {
		t.Run(release.String(), func(t *testing.T) {
			t.Parallel()
			golden(t, newStore(t, release.Start(t)))
		})
	}
}

func golden(t *testing.T, s *store) {
	for _, c := range []struct {
		name  string
		mode  sluice.Mode
		value string
	}{
		{"foo", sluice.Overall, "{foo}:value"},
		{"foo", sluice.PerClient, "{foo}:value:" + clientID},
		{"order:submit", sluice.Overall, "{order:submit}:value"},
		{"user:{42}:api", sluice.Overall, "user:{42}:api:value"},
		{"user:{42}:api", sluice.PerClient, "user:{42}:api:value:" + clientID},
		{"{a}", sluice.Overall, "{a}:value"},
		{"a{b}{}", sluice.Overall, "a{b}{}:value"},
		{"größe", sluice.Overall, "{größe}:value"},
	} {
		s.clear()
		l := s.client.Limiter(c.name)
		if done, err := l.TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(3, 10*time.Minute), Mode: c.mode}); err != nil || !done {
			t.Fatalf("TrySetRate of %s = %v, %v, want true", c.name, done, err)
		}
		config := "hash rate=3 interval=600000 type=0"
		if c.mode == sluice.PerClient {
			config = "hash rate=3 interval=600000 type=1"
		}
		s.want(map[string]string{c.name: config})

		take(t, l, 1)
		s.want(map[string]string{c.name: config, c.value: "string 2 for a time"})
		s.wantLife(c.value, 10*time.Minute)

		s.pass(4 * time.Minute)
		take(t, l, 2) // does not make the window longer
		s.want(map[string]string{c.name: config, c.value: "string 0 for a time"})
		s.wantLife(c.value, 6*time.Minute)

		s.pass(6 * time.Minute)
		s.want(map[string]string{c.name: config})
		take(t, l, 3)
		s.want(map[string]string{c.name: config, c.value: "string 0 for a time"})
		s.wantLife(c.value, 10*time.Minute)

		if done, err := l.Delete(t.Context()); err != nil || !done {
			t.Errorf("Delete of %s = %v, %v, want true", c.name, done, err)
		}
		s.want(map[string]string{})
	}
}
