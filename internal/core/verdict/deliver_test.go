package verdict_test

import (
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

// A run in a box delivers after each iteration that was judged. One over stories does so only after an iteration in which
// a story passed. Nothing is delivered twice.
func TestDelivery(t *testing.T) {
	byStories := beginRun(func(b *journal.RunBegan) { b.Policy.Boxed = true })
	byPrompt := beginRunBy(policy.ByResponse, func(p *policy.Policy) { p.Boxed = true })
	last := beginRun(func(b *journal.RunBegan) { b.Policy.Boxed, b.Plan.UserStories = true, b.Plan.UserStories[:1] })
	judged := func(number int) []journal.Event { return iteration{number: number, to: "b0", work: "w"}.events() }
	failed := func(number int) []journal.Event {
		return iteration{number: number, story: "US-001", to: "b0", work: "w"}.events()
	}
	delivered := func(number int) []journal.Event { return []journal.Event{journal.Delivered{Iteration: number}} }
	left := []journal.Event{journal.Delivered{Iteration: 1, Branch: "ralph-r1", Left: []journal.Left{{Path: "a", Why: "it is protected"}}}}
	done := judged(1)
	done[len(done)-1] = journal.IterationEnded{Number: 1, Done: true}
	for _, c := range []struct {
		why   string
		began journal.RunBegan
		then  [][]journal.Event
		want  string
	}{
		{"by prompt, an iteration was judged", byPrompt, [][]journal.Event{judged(1)}, "deliver"},
		{"and delivered", byPrompt, [][]journal.Event{judged(1), delivered(1)}, "iterate: 2 on the prompt"},
		{"ralph was killed before it delivered", byPrompt, [][]journal.Event{judged(1), {journal.Resumed{Why: "killed"}}}, "deliver"},
		{"what stays is not tried again", byPrompt, [][]journal.Event{judged(1), left}, "iterate: 2 on the prompt"},
		{"the answer came", byPrompt, [][]journal.Event{done}, "deliver"},
		{"and the work is in the user's folder", byPrompt, [][]journal.Event{done, delivered(1)}, "stop: response_matched"},

		{"no story passed", byStories, [][]journal.Event{failed(1)}, "iterate: 2 on US-001"},
		{"a story passed", byStories, [][]journal.Event{green()}, "deliver"},
		{"and is delivered", byStories, [][]journal.Event{green(), delivered(1)}, "iterate: 2 on US-002"},
		{"the last story passed", last, [][]journal.Event{green()}, "deliver"},
		{"and is delivered", last, [][]journal.Event{green(), delivered(1)}, "stop: all_stories_passed"},
	} {
		wantNext(t, c.why, c.want, fold(slices.Concat(append([][]journal.Event{{c.began}}, c.then...)...)...))
	}
}
