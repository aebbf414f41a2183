package verdict_test

import (
	"cmp"
	"flag"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/testsupport/journaltest"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// Each file in testdata has a journal and the step that follows.
func TestStories(t *testing.T) {
	journaltest.Stories(t, *update, func(_ *testing.T, s journaltest.Story) []txtar.File {
		return []txtar.File{{Name: "want", Data: []byte(describe(verdict.Next(s.Run)) + "\n")}}
	})
}

// between matches the boundary between two words of a type's name.
var between = regexp.MustCompile(`([a-z])([A-Z])`)

// describe returns a step as text.
func describe(step verdict.Step) string {
	switch s := step.(type) {
	case verdict.Iterate:
		return fmt.Sprintf("iterate: %d on %s", s.Number, cmp.Or(s.Story, "the prompt"))
	case verdict.TakeCommits:
		return fmt.Sprintf("take commits: leftovers %v", s.Leftovers)
	case verdict.Prove:
		return fmt.Sprintf("prove: %s at %s", cmp.Or(s.Story, "the whole change"), s.Commit)
	case verdict.Review:
		return fmt.Sprintf("review: %s at %s", s.Story, s.Commit)
	case verdict.RunSCMTask:
		return "commit: " + s.Task
	case verdict.Push:
		return "push: " + s.SHA
	case verdict.AnnounceEnd:
		return fmt.Sprintf("announce end: %s: %s", s.Reason, s.Words)
	case verdict.Pause:
		return strings.TrimSuffix(fmt.Sprintf("pause: %s: %s", s.For, s.Why), ": ")
	case verdict.Stop:
		return strings.TrimSuffix(fmt.Sprintf("stop: %s: %s", s.Stopped.Reason, s.Stopped.Why), ": ")
	case verdict.Judge:
		return judged(s.Verdict)
	case verdict.DraftPlan, verdict.Baseline, verdict.ReadPlan, verdict.Check, verdict.OpenPull, verdict.MergeRemote, verdict.MarkPullReady, verdict.SaveRun, verdict.Deliver,
		verdict.ReadTaskFolder, verdict.NoStep:
		return strings.ToLower(between.ReplaceAllString(strings.TrimPrefix(fmt.Sprintf("%T", s), "verdict."), "$1 $2"))
	}
	return fmt.Sprintf("no such step: %T", step)
}

func judged(e journal.IterationEnded) string {
	text := fmt.Sprintf("judge: %d on %s: green %v, worked %v, passed %v", e.Number, cmp.Or(e.Story, "the prompt"), e.Green, e.Worked, e.Passed)
	if e.Done {
		text += ", done"
	}
	for _, rejected := range e.Rejected {
		text += "\nrejected " + rejected.Claim + ": " + rejected.Why
	}
	return text
}
