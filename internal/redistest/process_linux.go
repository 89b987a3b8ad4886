package redistest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// dieWithParent has the kernel kill the server if the test process dies without
// cleaning up.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// awaitStopped waits until a SIGSTOP has taken effect: the signal is only a request.
func awaitStopped(pid int) error {
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return err
		}
		// "pid (name) state …", where the name may hold anything, brackets too.
		end := bytes.LastIndexByte(stat, ')')
		if end >= 0 && bytes.HasPrefix(stat[end:], []byte(") T")) {
			return nil
		}
	}
	return fmt.Errorf("process %d did not stop", pid)
}
