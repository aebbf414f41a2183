package main_test

import (
	"os"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/modeltest"
)

// On a laptop without a sandbox an agent that has hooks is given ralph's: what is
// dangerous is refused, and the model is told what to do instead.
func TestAgentsAreGuarded(t *testing.T) {
	if os.Getenv("AGENTS") == "" {
		return
	}
	for _, name := range guardedAgents {
		t.Run(name, func(t *testing.T) {
			l := newLaptop(t, name, `{}`, []modeltest.Answer{
				{Calls: []modeltest.Call{modeltest.Shell("rm -rf $HOME/../home; echo gone")}},
				{Calls: []modeltest.Call{modeltest.Shell("echo kept > kept.txt")}},
				{Words: "Then not. <response>DONE</response>"},
			})
			if err := l.start("-m", "1").Wait(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(l.path("home")); err != nil {
				t.Error(err)
			}
			if work := l.server.Work(); len(work) != 3 || !strings.Contains(work[1].Body, "instead: ") {
				t.Errorf("%d requests came, want 3, the second with the refusal", len(work))
			}
			if !strings.Contains(l.text(), "guard: dangerous commands of") {
				t.Error("the log does not name the guard")
			}
		})
	}
}

var guardedAgents = []string{"claude"}
