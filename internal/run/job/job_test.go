package job_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/run/job"
	"github.com/ralph-loop/ralph/internal/testsupport/gittest"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// What the model server counted is what an agent used, no matter what it says; one that is not counted is believed. That
// the server has stopped is why it failed, no matter what its program made of that.
func TestMetered(t *testing.T) {
	const why = "the budget of the run is used"
	much, little := stream.Usage{Input: 100}, stream.Usage{Input: 1}
	dollar, cent := stream.Cost{USD: 1, Known: true}, stream.Cost{USD: 0.01, Known: true}
	soon := time.Unix(100, 0)
	for name, test := range map[string]struct {
		said    journal.AgentEnded
		seen    egress.Spent
		counted bool
		want    journal.AgentEnded
	}{
		"not counted":      {journal.AgentEnded{Usage: little, Cost: cent}, egress.Spent{}, false, journal.AgentEnded{Usage: little, Cost: cent}},
		"more counted":     {journal.AgentEnded{Usage: little, Cost: cent}, egress.Spent{Usage: much, Cost: dollar}, true, journal.AgentEnded{Usage: much, Cost: dollar}},
		"less counted":     {journal.AgentEnded{Usage: much, Cost: dollar}, egress.Spent{Usage: little, Cost: cent}, true, journal.AgentEnded{Usage: little, Cost: cent}},
		"it asked nothing": {journal.AgentEnded{Usage: much, Cost: dollar}, egress.Spent{}, true, journal.AgentEnded{Cost: stream.Cost{Known: true}}},
		"without a price":  {journal.AgentEnded{Cost: dollar}, egress.Spent{Usage: much}, true, journal.AgentEnded{Usage: much}},
		"a key was refused": {
			journal.AgentEnded{Failed: true, CannotRun: true, Why: "401", Fix: "check the key"},
			egress.Spent{Stopped: true},
			false,
			journal.AgentEnded{Failed: true, Overspent: true, Why: why},
		},
		"it was too busy": {
			journal.AgentEnded{Failed: true, Busy: true, Until: soon, Why: "429"},
			egress.Spent{Stopped: true},
			false,
			journal.AgentEnded{Failed: true, Overspent: true, Why: why},
		},
		"it ended well": {journal.AgentEnded{Response: "done"}, egress.Spent{Stopped: true}, false, journal.AgentEnded{Response: "done", Overspent: true}},
	} {
		if diff := cmp.Diff(test.want, job.Metered(test.said, test.seen, test.counted)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A tree stays if commits of its newest iteration were not taken, or were refused.
func TestIsWorkUntaken(t *testing.T) {
	agent, taken, ended := &journal.AgentEnded{}, &journal.CommitsTaken{}, &journal.IterationEnded{}
	refused := &journal.CommitsTaken{Refused: []journal.Finding{{Why: "a workflow"}}}
	for name, test := range map[string]struct {
		iterations []journal.Iteration
		want       bool
	}{
		"no iteration":               {nil, false},
		"killed before its agent":    {[]journal.Iteration{{}}, true},
		"the agent has ended":        {[]journal.Iteration{{Agent: agent}}, true},
		"ended without its commits":  {[]journal.Iteration{{Agent: agent, Ended: ended}}, true},
		"ended without an agent":     {[]journal.Iteration{{Ended: ended}}, false},
		"its commits are taken":      {[]journal.Iteration{{Agent: agent, Taken: taken}}, false},
		"its commits are refused":    {[]journal.Iteration{{Agent: agent, Taken: refused, Ended: ended}}, true},
		"an earlier one was refused": {[]journal.Iteration{{Taken: refused, Ended: ended}, {Taken: taken}}, false},
	} {
		if got := job.IsWorkUntaken(journal.Run{Iterations: test.iterations}); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// What the agent's program says of its user's settings is where the model server
// asks. A server that the agent has to ask itself is the only host that it reaches,
// and is refused where the sandbox does not let it through.
func TestAdopt(t *testing.T) {
	keys := agent.Keys{AnthropicAPIKey: "ant"}
	hosts := []string{"api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com", "models.dev"}
	for name, test := range map[string]struct {
		options string
		want    confine.Model
		err     string
	}{
		"a gateway": {`"baseURL":"http://127.0.0.1:1"`, confine.Model{
			Name: "anthropic/x", Keys: agent.Keys{AnthropicAPIKey: "ant", ModelBaseURL: "http://127.0.0.1:1"}, Hosts: hosts,
		}, ""},
		"a key of its own":           {`"baseURL":"https://a.example/v1","apiKey":"x"`, confine.Model{Name: "anthropic/x", Hosts: []string{"a.example"}}, ""},
		"the same on this machine":   {`"baseURL":"https://localhost/v1","apiKey":"x"`, confine.Model{}, "cannot reach it from inside"},
		"the same without TLS":       {`"baseURL":"http://a.example/v1","apiKey":"x"`, confine.Model{}, "cannot reach it from inside"},
		"the same with a bad server": {`"baseURL":"http://[","apiKey":"x"`, confine.Model{}, "cannot reach it from inside"},
	} {
		dir := t.TempDir()
		program := filepath.Join(dir, "opencode")
		text := `#!/bin/sh
[ "$*" = 'debug config --pure' ] && echo '{"model":"anthropic/x","provider":{"anthropic":{"options":{` + test.options + `}}}}'
`
		must.Do(t, os.WriteFile(program, []byte(text), 0o700))
		c, err := job.Find("opencode", agent.Options{Command: program, Keys: keys}, func(...string) []string { return []string{"PATH=/usr/bin:/bin"} }, dir)
		if err != nil {
			t.Fatal(err)
		}
		err = c.AdoptSettings(t.Context(), confine.Options{Exec: (&process.Runner{}).Run, Home: dir, Path: "/usr/bin:/bin"}, "")
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: %v, want %q", name, err, test.err)
			}
			continue
		}
		test.want.Agent = "opencode"
		if diff := cmp.Diff(test.want, c.FillModel(confine.Model{})); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// What checks of an iteration wrote is not work of the next, until the agent changes or commits it.
func TestTidy(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	do := func(args ...string) string { return gittest.Git(t, dir, args...) }
	write := func(name, text string) { gittest.Write(t, filepath.Join(dir, name), text) }
	do("init", "-q")
	write("a", "1")
	do("add", "a")
	do("commit", "-q", "-m", "begin")
	tree, err := git.Git{Run: new(process.Runner).Run, Path: os.Getenv("PATH"), Home: t.TempDir()}.Own(ctx, git.Place{Top: dir})
	if err != nil {
		t.Fatal(err)
	}
	snapshot := func() string {
		t.Helper()
		now := must.Get(tree.Look(ctx))(t)
		return now.Work
	}
	before := snapshot()
	for _, name := range []string{"coverage.out", "changed.out", "committed.out"} {
		write(name, name)
	}
	after := snapshot()
	write("changed.out", "by the agent")
	write("new", "by the agent")
	do("add", "committed.out")
	do("commit", "-q", "-m", "wanted")
	tidy := must.Get(job.Tidy(ctx, tree, git.Span{From: before, To: after}, snapshot()))(t)
	if got := do("diff", "--name-only", before, tidy); got != "changed.out\ncommitted.out\nnew" {
		t.Errorf("left is %q", got)
	}
}

func TestNothingIsIgnoredThroughALink(t *testing.T) {
	dir := t.TempDir()
	outside, exclude := filepath.Join(dir, "outside"), filepath.Join(dir, "tree/.git/info/exclude")
	must.Do(t, os.MkdirAll(filepath.Dir(exclude), 0o700))
	must.Do(t, os.WriteFile(outside, []byte("mine"), 0o600))
	must.Do(t, os.Symlink(outside, exclude))
	err := job.Ignore(filepath.Join(dir, "tree"), []string{"/x"})
	if text, _ := os.ReadFile(outside); err == nil || string(text) != "mine" {
		t.Errorf("%v, and the file outside is %q", err, text)
	}
}
