//go:build !linux

package redistest

import "os/exec"

// dieWithParent does nothing here: a test process that is killed leaves its server.
func dieWithParent(*exec.Cmd) {}

// awaitStopped does nothing here: there is no portable way to look.
func awaitStopped(int) error { return nil }
