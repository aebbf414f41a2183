package agent_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent/agent"
)

// Those that can be kept from writing are, where they are to read.
func TestReadersHaveFlags(t *testing.T) {
	for _, test := range []struct {
		agent    string
		confined bool
		want     string // and no more than that
		not      string
	}{
		{"claude", false, "--tools Read,Grep,Glob", "--settings"},
		{"codex", false, `--sandbox read-only --skip-git-repo-check -c approval_policy="never"`, "--dangerously-bypass-approvals-and-sandbox"},
		{"codex", true, "--dangerously-bypass-approvals-and-sandbox", "--sandbox read-only"},
	} {
		keys := agent.Keys{Confined: test.confined}
		reader, err := agent.Pick(test.agent, agent.Options{ReadOnly: true, Keys: keys})
		if err != nil {
			t.Fatal(err)
		}
		argv := strings.Join(reader.Argv(agent.Order{}), " ")
		if !strings.Contains(argv, test.want) || strings.Contains(argv, test.not) {
			t.Errorf("%s, behind a sandbox %v: %s", test.agent, test.confined, argv)
		}
		writer, err := agent.Pick(test.agent, agent.Options{Keys: keys})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(argv, strings.Join(writer.Argv(agent.Order{}), " ")); diff == "" && !test.confined {
			t.Errorf("%s is called as one that writes: %s", test.agent, argv)
		}
	}
}

// A reader that is told to write does not: the one has no tool for it, the
// other's tools cannot.
func TestRealReaderWritesNothing(t *testing.T) {
	eachProgram(t, func(c cli) {
		t := c.T
		if !slices.Contains([]string{"claude", "codex"}, c.agent) {
			return // nothing is promised of the others but a checkout that is thrown away
		}
		c.reads = true
		b := c.bench(wroteHello()...)
		got, err := b.Do(t.Context(), b.order)
		if err != nil || got.Failed {
			t.Errorf("Do = %+v, %v", got, err)
		}
		if _, err := os.Stat(filepath.Join(b.Dir, "hello.txt")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it wrote: %v", err)
		}
		tooled := false
		for _, r := range b.server.Requests() {
			tooled = tooled || strings.Contains(r.Body, `"Grep"`)
			if strings.Contains(r.Body, `"name":"Write"`) || strings.Contains(r.Body, `"name":"Bash"`) {
				t.Errorf("it has tools to write with: %s", r.Body)
			}
		}
		if c.agent == "claude" && !tooled || c.agent == "codex" && len(b.server.Work()) != 2 {
			t.Errorf("it had no tool to read with, or tried none: %+v", got)
		}
	})
}
