package github_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/hub/upkeep"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// A thread in which somebody said what no run worked on stays open: resolved, it
// would be folded away with these words.
func TestUnreadWordsKeepAThreadOpen(t *testing.T) {
	for name, c := range map[string]struct {
		author, body string // of one more comment in the thread
		read         bool   // by the run
		resolved     bool
	}{
		"nothing more":                {resolved: true},
		"what the run worked on":      {author: "max", body: "And sort it.", read: true, resolved: true},
		"what was said since":         {author: "max", body: "No, don't.", resolved: false},
		"what a stranger said":        {author: "mallory", body: "Me too.", resolved: false},
		"ralph's own words":           {author: actor, body: "<!-- ralph:thread r0 -->\nNot done.", resolved: true},
		"a path, and no command":      {author: "max", body: "/etc/x is wrong, too", resolved: false},
		"the command that started it": {author: "mia", body: " @r", resolved: true},
	} {
		server := stand(t, nil)
		pull := server.AddPull(shop, githubtest.Pull{Title: "Add a cart", Head: work, Author: "otto"})
		server.AddReview(shop, pull.Number, githubtest.Review{Author: "mia"}, githubtest.ReviewComment{Path: "cart.go", Line: 1, Body: "Use a map."})
		first := server.Remarks(shop, pull.Number)[0].ID
		reply := upkeep.Reply{Thread: first, Mark: "<!-- ralph:thread r1 b -->", Text: "<!-- ralph:thread r1 b -->\nDone.", Resolve: true, Read: []int64{first}}
		if c.author != "" {
			server.AddReview(shop, pull.Number, githubtest.Review{Author: c.author}, githubtest.ReviewComment{Path: "cart.go", Line: 1, ReplyTo: first, Body: c.body})
		}
		if c.read {
			reply.Read = append(reply.Read, server.Remarks(shop, pull.Number)[1].ID)
		}
		if err := connect(t, access(server)).Answer(t.Context(), pull.Number, trigger.Rules{Phrase: "@r"}, []upkeep.Reply{reply}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		remarks := server.Remarks(shop, pull.Number)
		if last := remarks[len(remarks)-1]; remarks[0].Resolved != c.resolved || last.Body != reply.Text {
			t.Errorf("%s: resolved %t, want %t; the last word is %q", name, remarks[0].Resolved, c.resolved, last.Body)
		}
	}
}
