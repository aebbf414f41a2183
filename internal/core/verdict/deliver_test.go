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
	byTag := beginRunBy(policy.ByTag, func(p *policy.Policy) { p.Boxed, p.Limits.Iterations = true, 1 })
	unboxed := beginRunBy(policy.ByResponse, nil)
	last := beginRun(func(b *journal.RunBegan) { b.Policy.Boxed, b.Plan.UserStories = true, b.Plan.UserStories[:1] })
	shared := beginRun(func(b *journal.RunBegan) { b.Policy.Boxed, b.Policy.Publish, b.Policy.NoPull = true, true, true })
	judged := func(number int) []journal.Event { return iteration{number: number, to: "b0", work: "w"}.events() }
	failed := func(number int) []journal.Event {
		return iteration{number: number, story: "US-001", to: "b0", work: "w"}.events()
	}
	open := iteration{number: 1, to: "b0", work: "w", unjudged: true}.events()
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
		{"nothing has been done", byPrompt, nil, "iterate: 1 on the prompt"},
		{"an iteration is open", byPrompt, [][]journal.Event{open}, "judge: 1 on the prompt: green false, worked false, passed []"},
		{"by prompt, an iteration was judged", byPrompt, [][]journal.Event{judged(1)}, "deliver"},
		{"and delivered", byPrompt, [][]journal.Event{judged(1), delivered(1)}, "iterate: 2 on the prompt"},
		{"the next one was judged", byPrompt, [][]journal.Event{judged(1), delivered(1), judged(2)}, "deliver"},
		{"and delivered, too", byPrompt, [][]journal.Event{judged(1), delivered(1), judged(2), delivered(2)}, "iterate: 3 on the prompt"},
		{"ralph was killed before it delivered", byPrompt, [][]journal.Event{judged(1), {journal.Resumed{Why: "killed"}}}, "deliver"},
		{"ralph was killed after it delivered", byPrompt, [][]journal.Event{judged(1), delivered(1), {journal.Resumed{Why: "killed"}}}, "iterate: 2 on the prompt"},
		{"what stays is not tried again", byPrompt, [][]journal.Event{judged(1), left}, "iterate: 2 on the prompt"},
		{"the answer came", byPrompt, [][]journal.Event{done}, "deliver"},
		{"and the work is in the user's folder", byPrompt, [][]journal.Event{done, delivered(1)}, "stop: response_matched"},
		{"by tag, a limit is reached", byTag, [][]journal.Event{judged(1)}, "deliver"},
		{"and the work is in the user's folder", byTag, [][]journal.Event{judged(1), delivered(1)}, "stop: max_iterations: 1 of 1 iterations used"},
		{"without a box", unboxed, [][]journal.Event{judged(1)}, "iterate: 2 on the prompt"},

		{"no story passed", byStories, [][]journal.Event{failed(1)}, "iterate: 2 on US-001"},
		{"a story passed", byStories, [][]journal.Event{green()}, "deliver"},
		{"and is delivered", byStories, [][]journal.Event{green(), delivered(1)}, "iterate: 2 on US-002"},
		{"the next one did not pass", byStories, [][]journal.Event{green(), delivered(1), failed(2)}, "iterate: 3 on US-002"},
		{"one passed after another did not", byStories, [][]journal.Event{failed(1), later(green(), 2)}, "deliver"},
		{"the last story passed", last, [][]journal.Event{green()}, "deliver"},
		{"and is delivered", last, [][]journal.Event{green(), delivered(1)}, "stop: all_stories_passed"},
		{"a story is pushed first", shared, [][]journal.Event{green()}, "push: c1"},
		{"and then delivered", shared, [][]journal.Event{green(), {journal.Pushed{SHA: "c1"}}}, "deliver"},
	} {
		wantNext(t, c.why, c.want, fold(slices.Concat(append([][]journal.Event{{c.began}}, c.then...)...)...))
	}
}

// later returns the events of an iteration under another number.
func later(events []journal.Event, number int) []journal.Event {
	events = slices.Clone(events)
	for i, event := range events {
		switch e := event.(type) { //nolint:gochecksumtype // the others have no number
		case journal.IterationBegan:
			e.Number = number
			events[i] = e
		case journal.IterationEnded:
			e.Number = number
			events[i] = e
		}
	}
	return events
}
