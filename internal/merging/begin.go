package merging

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// Begin adds to a new run what the newest run of its branch proved, with what people changed. What that left open is the new
// run's work.
func Begin(ctx context.Context, t *git.Trusted, began journal.RunBegan, last journal.Run) (_ journal.RunBegan, err error) {
	if !began.OntoWork {
		return began, nil
	}
	isOpen := len(began.Open.Stories) > 0
	judges := last.Policy.Tamper != "" && last.Policy.Tamper != policy.TamperAllow
	switch {
	case last.Branch != began.Branch: // people made all of it
		began.Grounds, err = grounds(ctx, t, journal.Run{Head: began.Base, Sound: began.Base}, began.Start)
	case isOpen:
		if sound := newestSound(last); judges && sound != began.Open.Since {
			last.Sound = sound
			began.Open.Judges, err = grounds(ctx, t, last, began.Start)
			began.Open.Judges = began.Open.Judges[min(len(last.Grounds), len(began.Open.Judges)):]
		}
		if last.Sound = began.Open.Since; err == nil {
			began.Grounds, err = grounds(ctx, t, last, began.Start)
		}
	case judges && (last.Sound != began.Start || len(last.Grounds) > 0):
		began.Grounds, err = grounds(ctx, t, last, began.Start)
	}
	if err != nil {
		return began, err
	}
	tree, err := t.TreeOf(ctx, began.Start)
	if n := len(began.Grounds); n == 0 || began.Grounds[n-1].Onto.Tree == tree { // it is gone, or people took it back
		began.Open = journal.OpenWork{}
	} else if isOpen {
		began.Open.Tree = tree
	}
	began.Open.Work = slices.DeleteFunc(began.Open.Work, func(work journal.StoryWork) bool { // of a branch that somebody rewrote
		_, err := t.Resolve(ctx, work.To)
		return err != nil
	})
	if err == nil {
		began.Already, err = t.ChangedPaths(ctx, git.Span{From: began.Base, To: began.Start})
	}
	return began, err
}

// newestSound returns the newest commit of a run, or else of those before it, that hid nothing.
func newestSound(run journal.Run) string {
	if n := len(run.Open.Judges); n > 0 && run.Sound == run.Onto.Commit {
		return run.Open.Judges[n-1].Onto.Commit
	}
	return run.Sound
}

// grounds returns what people changed since the newest run of a branch, and before in it, on what it proved.
func grounds(ctx context.Context, t *git.Trusted, last journal.Run, start string) ([]journal.Joined, error) {
	if last.Sound == "" {
		return nil, nil
	}
	ground := journal.Joined{Of: journal.OfBranch, From: last.Head, With: start, Sound: last.Sound}
	all := append(slices.Clone(last.Grounds), ground)
	for _, joined := range all {
		if _, err := t.Resolve(ctx, joined.From); errors.Is(err, git.ErrNotFound) {
			return nil, nil // people pushed something else
		}
	}
	if others, err := hasOtherRuns(ctx, t, last, start); err != nil || others && last.Sound == last.Head {
		return nil, err
	}
	if err := Restore(ctx, t, last); err != nil {
		return nil, err
	}
	var err error
	all[len(last.Grounds)].Onto, err = onto(ctx, t, ground)
	return all, err
}

// hasOtherRuns reports commits of runs since the newest of which there is a record: an agent made them.
func hasOtherRuns(ctx context.Context, t *git.Trusted, last journal.Run, start string) (bool, error) {
	made, err := t.Ask(ctx, "log", "--format=%(trailers:key=Ralph-Run,valueonly,separator=%x20)", last.Head+".."+start)
	return slices.ContainsFunc(strings.Fields(made), func(id string) bool { return id != last.ID }), err
}
