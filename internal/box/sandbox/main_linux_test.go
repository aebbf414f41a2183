package sandbox_test

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
)

// TestMain makes this test binary its own launcher, as ralph is.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != sandbox.Hidden {
		os.Exit(m.Run())
	}
	cast()
	if role, ok := roles[os.Args[2]]; ok {
		role(os.Args[3:])
		syscall.Exit(0)
	}
	is, err := sandbox.PlayInAttack(os.Args[2])
	if is {
		end(err)
	}
	err = sandbox.Launch(sandbox.Launcher{
		Args: os.Args[2:], Env: os.Environ(), Exit: syscall.Exit,
		Hear: func(all ...os.Signal) <-chan os.Signal {
			heard := make(chan os.Signal, 1)
			signal.Notify(heard, all...)
			return heard
		},
	})
	end(err)
}

// end is not os.Exit, which waits a second under -race.
func end(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(125)
	}
	syscall.Exit(0)
}
