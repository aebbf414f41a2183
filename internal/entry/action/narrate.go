package action

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/sethvargo/go-githubactions"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// logEvent writes an event to the job's log. Each iteration is a group, and failures of the last
// one become annotations. A run makes no other commands to the runner.
func (h *event) logEvent(run journal.Run, event journal.Event) {
	line := view.Line(run, event)
	if h.Plain {
		h.say(line)
		return
	}
	if _, begins := event.(journal.IterationBegan); begins {
		h.toolkit.Group(h.logText(line))
		return
	}
	h.say(line)
	switch event.(type) { //nolint:gochecksumtype // nothing else ends a group
	case journal.IterationEnded:
		h.toolkit.EndGroup()
	case journal.RunStopped:
		if _, open := run.OpenIteration(); open {
			h.toolkit.EndGroup()
		}
		for _, a := range view.Annotations(run) {
			h.annotate(a)
		}
	}
}

// unfailing ignores that nothing reads the log, for which the toolkit would panic: a run
// without its runner still saves its work.
type unfailing struct{ io.Writer }

func (u unfailing) Write(text []byte) (int, error) {
	_, _ = u.Writer.Write(text)
	return len(text), nil
}

func (h *event) annotate(a view.Annotation) {
	fields := githubactions.CommandProperties{"title": h.logText(a.Title)}
	say := h.toolkit.WithFieldsMap(fields).Errorf
	if a.Notice {
		say = h.toolkit.WithFieldsMap(fields).Noticef
	}
	say("%s", h.logText(a.Text))
}

func (h *event) cleanText(text string) string {
	return h.secrets.String(h.inputs.Rules.WithPhrases(text))
}

// sayError logs what went wrong where the job goes on all the same.
func (h *event) sayError(err error) {
	if err != nil {
		h.say(fault.Told(err))
	}
}

// logText is text that can neither command the runner nor give a secret away.
func (h *event) logText(text string) string { return clean.LogLine(h.secrets.String(text)) }

// label only writes changes, and gives up where labels are not allowed.
func (h *branchHost) label(ctx context.Context, state view.State) error {
	if !h.stateLabels || h.issue == 0 {
		return nil
	}
	err := h.relabel(ctx, state)
	if errors.Is(err, github.Forbidden) {
		h.stateLabels = false
	}
	return err
}

func (h *branchHost) relabel(ctx context.Context, state view.State) error {
	if wanted := state.Label(); state != "" && !slices.Contains(h.labels, wanted) {
		labels, err := h.client.AddLabels(ctx, h.issue, wanted)
		if err != nil {
			return err
		}
		h.labels = labels // those of a job that was killed among them
	}
	for _, other := range view.States() {
		at := slices.Index(h.labels, other.Label())
		if other == state || at < 0 {
			continue
		}
		if err := h.client.RemoveLabel(ctx, h.issue, h.labels[at]); err != nil {
			return err
		}
		h.labels = slices.Delete(h.labels, at, at+1)
	}
	return nil
}
