package sandbox_test

import (
	"context"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/sandbox"
)

// An interrupted connect comes first: the next client is still served.
func TestGreetServesWhoComesLater(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	dial := func() net.Conn {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp4", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		return c
	}
	_ = dial().Close()
	late := dial()
	defer func() { _ = late.Close() }()
	go sandbox.Greet(l)
	if text, err := io.ReadAll(late); err != nil || string(text) != "from inside" {
		t.Errorf("it heard %q, %v", text, err)
	}
}

// A sandbox whose own trial hangs is tried once more, and then not believed.
func TestATrialThatHangs(t *testing.T) {
	for name, late := range map[string]int{"once": 1, "always": 99} {
		t.Run(name, func(t *testing.T) {
			tries, honest := 0, new(process.Runner)
			next := func(ctx context.Context, c process.Command) (process.Result, error) {
				if tries++; tries <= late {
					return process.Result{TimedOut: c.Timeout > 0}, nil
				}
				return honest.Run(ctx, c)
			}
			sb := sandbox.Config{Level: sandbox.Notify, UID: os.Geteuid(), GID: os.Getegid(), Read: []string{"/"}}
			err := sandbox.Try(t.Context(), sb, next)
			if late == 1 && err != nil || late > 1 && (err == nil || !strings.Contains(err.Error(), "it did not end within")) || tries != 2 {
				t.Errorf("%d tries, %v", tries, err)
			}
		})
	}
}

// A trial that ends with an exit code is reported with it and with what it said.
func TestATrialThatFails(t *testing.T) {
	fails := func(_ context.Context, c process.Command) (process.Result, error) {
		_, err := io.WriteString(c.Stderr, "no memory")
		return process.Result{Exit: 3}, err
	}
	sb := sandbox.Config{Level: sandbox.Notify, UID: os.Geteuid(), GID: os.Getegid(), Read: []string{"/"}}
	err := sandbox.Try(t.Context(), sb, fails)
	if err == nil || err.Error() != "exit 3: no memory" {
		t.Errorf("%v", err)
	}
}
