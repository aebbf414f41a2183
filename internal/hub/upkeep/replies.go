package upkeep

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/lib/clean"
)

// Reply is the answer in a review thread.
type Reply struct {
	Thread  int64
	Mark    string // begins the text: the same answer is given once
	Text    string
	Resolve bool    // a commit addressed it, and the checks are green on the pushed head
	Read    []int64 // the comments that the run worked on
}

const threadMark = trigger.Marker + "thread "

// Replies returns the answers to the run's threads: a commit, the agent's words, or why nothing was
// done. If the run waits for people, it answers only what was done.
func Replies(run journal.Run, headline string) (all []Reply) {
	var threads, read []int64
	for _, r := range run.Task.Remarks {
		read = append(read, r.ID)
		if r.Thread != 0 && !slices.Contains(threads, r.Thread) {
			threads = append(threads, r.Thread)
		}
	}
	for _, thread := range threads {
		r, due := reply(run, thread, headline)
		if !due {
			continue
		}
		r.Thread = thread
		digest := sha256.Sum256([]byte(r.Text))
		r.Mark = fmt.Sprintf("%s%s %x -->", threadMark, run.ID, digest[:6])
		r.Read = read
		r.Text = r.Mark + "\n" + r.Text
		all = append(all, r)
	}
	return all
}

func reply(run journal.Run, thread int64, headline string) (Reply, bool) {
	var texts []string
	resolve := isHeadProven(run)
	for _, story := range storiesOf(run, thread) {
		if !story.Passes {
			return Reply{Text: "**ralph:** not done. " + washed(headline) + "."}, !waits(run)
		}
		commit, hasCommit := commitOf(run, story.ID)
		answer := verdict.ReviewAnswer(run, story.ID)
		switch {
		case answer != "":
			texts = append(texts, "**ralph:** no change was made. The agent answers:\n\n> "+washed(answer))
			resolve = false
		case hasCommit:
			subject := strings.TrimRight(washed(commit.Subject), ". ")
			texts = append(texts, fmt.Sprintf("**ralph:** done in %.7s: %s.", commit.SHA, subject))
		default:
			texts = append(texts, "**ralph:** no change was made: the request is already met.")
			resolve = false
		}
	}
	texts = slices.Compact(texts)
	return Reply{Text: strings.Join(texts, "\n\n"), Resolve: resolve}, len(texts) > 0
}

// isHeadProven reports that the pushed head is proven, and that the threads' pull request has it.
func isHeadProven(run journal.Run) bool {
	return verdict.IsVerified(run) && run.Published.Pushed == run.Head && len(run.Published.Leaves) == 0
}

// waits reports that people are expected to continue the run.
func waits(run journal.Run) bool {
	return run.Stop == nil || run.Stop.Reason == policy.NeedsInput || run.Stop.Reason == policy.Cancelled
}

// storiesOf returns those that the remarks of a thread stand in: an agent may split one.
func storiesOf(run journal.Run, thread int64) (all []plan.Story) {
	for _, story := range run.Plan.UserStories {
		isOfThread := func(r plan.Remark) bool {
			return r.Thread == thread && slices.Contains(story.AcceptanceCriteria, r.Criterion())
		}
		if slices.ContainsFunc(run.Task.Remarks, isOfThread) {
			all = append(all, story)
		}
	}
	return all
}

// commitOf returns the newest commit of a story. A signed one has another name; then it is the head.
func commitOf(run journal.Run, story string) (journal.Commit, bool) {
	for _, it := range slices.Backward(run.Iterations) {
		if it.Story != story || it.Taken == nil {
			continue
		}
		if len(it.Taken.Commits) == 0 || it.Taken.To == it.Taken.From {
			continue
		}
		commit := it.Taken.Commits[len(it.Taken.Commits)-1]
		if run.Published.Signed != "" {
			commit.SHA = run.Head
		}
		return commit, true
	}
	return journal.Commit{}, false
}

// washed removes line breaks and hidden marks from an agent's words.
func washed(text string) string {
	return strings.ReplaceAll(clean.Inline(text, 0), "<!--", "<! --")
}
