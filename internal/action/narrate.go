package action

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/sethvargo/go-githubactions"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/view"
)

// narrate writes what happened to the job's log: each iteration is a group that
// can be folded, and what failed in the last one is noted where the forge shows
// it. These are the only commands to the runner that a run makes, and all that
// others wrote goes into them by the one way into the log.
func (v *visit) narrate(run journal.Run, event journal.Event) {
	line := view.Line(run, event)
	if v.Plain {
		v.lineOf(line)
		return
	}
	if _, begins := event.(journal.IterationBegan); begins {
		v.toolkit.Group(v.fit(line))
		return
	}
	v.lineOf(line)
	switch event.(type) { //nolint:gochecksumtype // nothing else ends a group
	case journal.IterationEnded:
		v.toolkit.EndGroup()
	case journal.RunStopped:
		if _, open := run.OpenIteration(); open {
			v.toolkit.EndGroup()
		}
		for _, a := range view.Annotations(run) {
			v.annotate(a)
		}
	}
}

func (v *visit) lineOf(line string) {
	if line != "" {
		v.say(line)
	}
}

func (v *visit) annotate(a view.Annotation) {
	fields := githubactions.CommandProperties{"title": v.fit(a.Title)}
	if a.File != "" {
		fields["file"], fields["line"] = v.fit(a.File), strconv.Itoa(a.Line)
	}
	say := v.toolkit.WithFieldsMap(fields).Errorf
	if a.Notice {
		say = v.toolkit.WithFieldsMap(fields).Noticef
	}
	say("%s", v.fit(a.Text))
}

func (v *visit) words(text string) string {
	return v.secrets.String(v.inputs.Rules.WithPhrases(text))
}

// fit is text that can neither command the runner nor give a secret away.
func (v *visit) fit(text string) string { return clean.LogLine(v.secrets.String(text)) }

// label only writes changes, and gives up where labels are not allowed.
func (h *branchHost) label(ctx context.Context, state view.State) error {
	if !h.states || h.issue == 0 {
		return nil
	}
	err := h.relabel(ctx, state)
	if errors.Is(err, github.Forbidden) {
		h.states = false
	}
	return err
}

func (h *branchHost) relabel(ctx context.Context, state view.State) error {
	if wanted := state.Label(); state != "" && !slices.Contains(h.labels, wanted) {
		there, err := h.client.AddLabels(ctx, h.issue, wanted)
		if err != nil {
			return err
		}
		h.labels = there // those of a job that was killed among them
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
