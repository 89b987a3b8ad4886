package clienttest

import "testing"

// flaws are what does not work yet, by behaviour or test, and by client. A fix takes its line away.
var flaws = map[string]map[string]string{
	"a server hangs": {
		"go-redis UniversalClient":             "without ContextTimeoutEnabled go-redis waits for its ReadTimeout, 5 s, whatever the context says",
		"go-redis AutoPipeline":                deaf,
		"go-redis AsyncAutoPipeline":           deaf,
		"go-redis AutoPipeline in full duplex": deaf,
	},
}

const deaf = "go-redis' auto-pipeliner does not heed the context: it sends when that has ended, and waits 35 s and more for a server that hangs"

// skipFlawed skips a test that is known to fail.
func (c client) skipFlawed(t *testing.T, test string) {
	t.Helper()
	if why := flaws[test][c.name]; why != "" {
		t.Skip(why)
	}
}
