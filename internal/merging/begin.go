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
	mayHold := last.Policy.Tamper != "" && last.Policy.Tamper != policy.TamperAllow
	switch {
	case began.Start == began.Base: // nothing is there
	case last.Branch != began.Branch: // people made all of it
		began.Grounds, err = grounds(ctx, t, journal.Run{Head: began.Base, Sound: began.Base}, began.Start)
	case isOpen:
		began.Grounds, began.Open.Judges, err = openGrounds(ctx, t, began, last, mayHold)
	case mayHold && (last.Sound != began.Start || len(last.Grounds) > 0):
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

// openGrounds returns what a run builds on that begins on unproven work, and what of that judges. MayHold says that the last
// run was held if its work hid something; else all of it judges.
func openGrounds(ctx context.Context, t *git.Trusted, began journal.RunBegan, last journal.Run, mayHold bool) (all, judges []journal.Joined, err error) {
	judged, older := last, len(last.Grounds)
	last.Sound = began.Open.Since
	if all, err = grounds(ctx, t, last, began.Start); err != nil || len(all) == 0 {
		return nil, nil, err
	}
	switch {
	case !mayHold:
		judged.Sound = last.Head
	case len(last.Open.Judges) > 0 && !slices.ContainsFunc(last.Proofs, last.WasSound): // nothing newer hid nothing
		if judged.Grounds, err = rejudged(ctx, t, last); err != nil {
			return nil, nil, err
		}
		judged.Sound, older = judged.Grounds[len(judged.Grounds)-1].Onto.Commit, 0
	}
	if judged.Sound == began.Open.Since {
		return all, nil, nil
	}
	judges, err = grounds(ctx, t, judged, began.Start)
	return all, judges[min(older, len(judges)):], err
}

// rejudged returns what judged when a run began, and what people changed on that in the run.
func rejudged(ctx context.Context, t *git.Trusted, run journal.Run) (all []journal.Joined, err error) {
	all = slices.Clone(run.Open.Judges)
	for _, change := range run.Grounds {
		if change.Onto.Proofs == 0 && change.Onto.Iterations == 0 { // before the run
			continue
		}
		if change, err = build(ctx, t, journal.Run{Sound: all[len(all)-1].Onto.Commit}, change); err != nil {
			return nil, err
		}
		all = append(all, change)
	}
	return all, nil
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
	all[len(last.Grounds)], err = build(ctx, t, last, ground)
	return all, err
}

// hasOtherRuns reports commits of runs since the newest of which there is a record: an agent made them.
func hasOtherRuns(ctx context.Context, t *git.Trusted, last journal.Run, start string) (bool, error) {
	made, err := t.Ask(ctx, "log", "--format=%(trailers:key=Ralph-Run,valueonly,separator=%x20)", last.Head+".."+start)
	return slices.ContainsFunc(strings.Fields(made), func(id string) bool { return id != last.ID }), err
}
