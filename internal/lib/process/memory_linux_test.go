package process_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/lib/process"
)

// The bound is there before anything is read, and those that it starts have it,
// too: what would take more fails.
func TestMemoryIsBounded(t *testing.T) {
	var out bytes.Buffer
	_, err := new(process.Runner).Run(t.Context(), process.Command{
		Argv: []string{"/bin/sh", "-c", `read go; ulimit -d; dd if=/dev/zero of=/dev/null bs=200M count=1 2>/dev/null || echo refused`},
		Env:  []string{"PATH=/usr/bin:/bin"}, Stdin: strings.NewReader("go\n"), Stdout: &out, Memory: 64 << 20,
	})
	if err != nil || !strings.HasSuffix(out.String(), "65536\nrefused\n") {
		t.Errorf("%q, %v, want it refused", out.String(), err)
	}
}

// Programs that keep all processors busy make the process table slow to read.
func TestTheLimitHoldsWhereTheTableIsSlow(t *testing.T) {
	in, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(in.Close(), hold.Close()) }()
	out, said, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error)
	go func() {
		_, err := new(process.Runner).Run(ctx, process.Command{
			Argv: []string{"/bin/sh", "-c", "trap '' TERM; echo up; read line"}, Stdin: in, Stdout: said, Grace: time.Millisecond,
		})
		done <- err
	}()
	if _, err := io.ReadFull(out, make([]byte, len("up\n"))); err != nil {
		t.Fatal(err)
	}
	end := process.Busy()
	_ = said.Close() // only the program can write
	cancel()
	if _, err := io.ReadAll(out); err != nil { // until the program is gone
		t.Error(err)
	}
	end()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v, want it cancelled", err)
	}
}
