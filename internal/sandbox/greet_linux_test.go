package sandbox_test

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/sandbox"
)

// What is left of a connect that was cut short comes first: whoever comes after
// it is served all the same.
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
