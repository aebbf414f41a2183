package egress_test

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-loop/ralph/internal/box/egress"
)

// A tunnel with traffic in either direction is not idle. A tunnel without traffic
// is closed at both ends.
func TestATunnelThatMovesStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, theirs := net.Pipe()
		server, ours := net.Pipe()
		var up, down int64
		over := make(chan bool)
		go func() {
			defer close(over)
			up, down = egress.Pump(theirs, ours, []byte("hello"), time.Minute)
		}()
		buffer := make([]byte, 5)
		if _, err := io.ReadFull(server, buffer); string(buffer) != "hello" || err != nil {
			t.Fatalf("said %q, %v", buffer, err)
		}
		for i := range 6 { // for five minutes and more
			from, to := client, server
			if i%2 == 1 {
				from, to = server, client
			}
			time.Sleep(55 * time.Second)
			go func() { _, _ = from.Write([]byte("x")) }()
			if _, err := io.ReadFull(to, buffer[:1]); err != nil {
				t.Fatalf("after %d words: %v", i, err)
			}
		}
		time.Sleep(61 * time.Second)
		<-over
		for name, end := range map[string]net.Conn{"client": client, "server": server} {
			if _, err := end.Read(buffer); !errors.Is(err, io.EOF) {
				t.Errorf("the %s's end: %v, want it closed", name, err)
			}
		}
		if up != 5+3 || down != 3 {
			t.Errorf("passed %d and %d bytes, want 8 and 3", up, down)
		}
	})
}
