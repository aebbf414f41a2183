//go:build !linux

package process

import (
	"os"
	"syscall"
)

// guarded: nothing brings orphans to a guard here.
const guarded = false

func startInner(argv []string, attr *os.ProcAttr) (*inner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p, err := os.StartProcess(self, argv, attr)
	if err != nil {
		return nil, err
	}
	ended := make(chan syscall.WaitStatus, 1)
	go func() { ended <- wait(p) }()
	return &inner{p: p, ended: ended}, nil
}

func wait(p *os.Process) syscall.WaitStatus {
	state, err := p.Wait()
	if err != nil {
		return syscall.WaitStatus(127 << 8)
	}
	ws, _ := state.Sys().(syscall.WaitStatus)
	return ws
}

func sweepOuter() error { return nil }
