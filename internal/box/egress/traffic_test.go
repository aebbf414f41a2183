package egress_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/box/egress"
)

// Traffic counts the bytes to and from a model server, also of streams, but not
// refused requests.
func TestTrafficOfTheModel(t *testing.T) {
	const body = `{"model":"big","stream":true}`
	server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range 3 {
			_, _ = io.WriteString(w, piece)
			_ = http.NewResponseController(w).Flush()
		}
	})
	d := newTestModel(t, server.URL, only("big"))
	if got := d.model.Traffic(); len(got) > 0 {
		t.Errorf("before anything: %+v", got)
	}
	d.ask(messages, body)
	d.ask(messages, body)
	d.ask(messages, `{"model":"bigger"}`)
	to := address(t, server.URL)
	got := d.model.Traffic()
	want := []egress.Traffic{{Model: true, Tunnels: 2, Up: 2 * int64(len(body)), Down: 6 * int64(len(piece))}}
	if len(got) == 1 {
		if name := fmt.Sprintf("%s:%d", got[0].Name.Host, got[0].Name.Port); name != to.Host {
			t.Errorf("counted for %s, want %s", name, to.Host)
		}
		want[0].Name = got[0].Name
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
