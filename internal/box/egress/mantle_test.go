package egress_test

import (
	"net/url"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/must"

	"github.com/ralph-loop/ralph/internal/box/egress"
)

// A cloud's endpoint of the maker's API, such as Bedrock's, has a folder, a bearer
// token, and its own model names.
func TestAMakersAPIInACloud(t *testing.T) {
	server := newReceiver(t, nil)
	base := must.Get(url.Parse(server.URL + "/anthropic"))(t)
	d := newTestModel(t, server.URL, func(m *egress.Model) {
		m.Makers[0].Base, m.Makers[0].Bearer, m.Makers[0].Models = base, true, []string{"anthropic.claude-opus-4-8"}
	})
	d.ask(messages+"?beta=true", `{"model":"anthropic.claude-opus-4-8"}`)
	d.ask(messages, `{"model":"anthropic.claude-haiku-4-5"}`)
	hits := server.hits()
	if len(hits) != 1 {
		t.Fatalf("%d requests arrived, want that of the one model", len(hits))
	}
	if got := hits[0]; got.URL.Path != "/anthropic/v1/messages" || got.Header.Get("Authorization") != "Bearer "+realKey || got.Header.Get("X-Api-Key") != "" {
		t.Errorf("arrived at %s with %v", got.URL, got.Header)
	}
}
