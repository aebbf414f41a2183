package egress_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/price"
)

// Input in the cache for an hour is billed at twice its price, and for five minutes at 1.25
// times. The agent chooses, and the budget must hold for both.
func TestAnHourInTheCacheCostsMore(t *testing.T) {
	server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"type":"message","usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":1000000,`+
			`"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":1000000}}}`)
	})
	d := newTestModel(t, server.URL, func(m *egress.Model) {
		m.Prices = map[string]price.Rate{"big": {Input: 5, Output: 25, CacheRead: 0.5, CacheWrite: 6.25}}
	})
	got := d.ask(messages, `{"model":"big","system":[{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}]}`)
	if got.err != nil {
		t.Fatal(got.err)
	}
	settled(t, d)
	if got.StatusCode == http.StatusOK && fmt.Sprintf("%.2f", d.model.Spent().Cost.USD) != "10.00" {
		t.Errorf("it was let through and counted as %.2f dollars; its maker bills 10.00", d.model.Spent().Cost.USD)
	}
}
