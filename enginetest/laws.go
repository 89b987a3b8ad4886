package enginetest

import "testing"

func (h Harness) laws(t *testing.T)     {}
func (h Harness) waiting(t *testing.T)  {}
func (h Harness) badInput(t *testing.T) {}
