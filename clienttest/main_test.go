package clienttest

import (
	"os"
	"testing"

	"github.com/redis/go-redis/v9/logging"
)

func TestMain(m *testing.M) {
	logging.Disable() // of the connections that the tests break
	os.Exit(m.Run())
}
