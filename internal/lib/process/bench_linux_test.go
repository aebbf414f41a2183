package process_test

import (
	"context"
	"io"
	"os/exec"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/lib/process"
)

func BenchmarkRun(b *testing.B) {
	c := process.Command{Argv: []string{"/bin/true"}, Stdout: io.Discard}
	for b.Loop() {
		if _, err := new(process.Runner).Run(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRunBesideAnother has a live tree next to it, so that every end
// needs a look at the process table.
func BenchmarkRunBesideAnother(b *testing.B) {
	ctx, cancel := context.WithCancel(b.Context())
	g := run(ctx, new(process.Runner), playing("leave", "daemon", "stay"))
	<-g.lines
	BenchmarkRun(b)
	cancel()
	<-g.done
}

func BenchmarkBare(b *testing.B) { bare(b, nil) }

// BenchmarkBareSession is the fair comparison on a busy machine, where the
// kernel's scheduler makes a group of each new session.
func BenchmarkBareSession(b *testing.B) { bare(b, &syscall.SysProcAttr{Setsid: true}) }

func bare(b *testing.B, sys *syscall.SysProcAttr) {
	b.Helper()
	for b.Loop() {
		c := exec.CommandContext(b.Context(), "/bin/true")
		c.Env, c.Stdout, c.SysProcAttr = []string{}, new(process.Head), sys
		if err := c.Run(); err != nil {
			b.Fatal(err)
		}
	}
}
