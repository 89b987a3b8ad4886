package jvm

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the kernel kill the process if the test process dies without cleaning up.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
