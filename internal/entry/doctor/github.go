package doctor

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// GitHub says whose standing in which repository is looked at.
type GitHub struct {
	Client *github.Client
	Clone  string // where git finds it
	Base   string // the branch that work is for; the default one where empty
	Branch string // the one that it goes to
}

// Look asks GitHub for all that a run will need of it. Nothing is changed there.
func (g GitHub) Look(ctx context.Context) []Finding {
	repository := Finding{What: "the repository"}
	base, archived, err := g.Client.DefaultBranch(ctx)
	switch {
	case errors.Is(err, github.NotFound):
		err = fault.Usage("it does not exist, or this token may not see it",
			"use a token that may, with `contents: write`", nil)
	case archived:
		err = fault.Usage("it is archived, and read-only", "unarchive it in Settings → General", nil)
	}
	if err != nil { // GitHub would refuse the other questions, too
		return []Finding{repository.stopped(err)}
	}
	base = cmp.Or(g.Base, base)
	pushes := newFinding("pushes", g.Client.MayPush(ctx, g.Clone))
	pushes.Stops = pushes.Gap != ""
	return []Finding{
		repository,
		pushes,
		g.rules(ctx),
		newFinding("pull requests", g.mayOpenPulls(ctx, base)),
		newFinding("comments and labels", g.Client.MayWriteIssues(ctx)),
		newFinding("jobs: is one still at work?", g.Client.MayRead(ctx, "actions/runs", "actions: read")),
		newFinding("checks of a commit", g.Client.MayRead(ctx, "commits/"+base+"/check-runs", "checks: read")),
	}
}

// rules names the rules of the branch. What they refuse, GitHub says at the push.
func (g GitHub) rules(ctx context.Context) Finding {
	rules, err := g.Client.Rules(ctx, g.Branch)
	f := newFinding("the branch "+g.Branch, err)
	var names []string
	for _, rule := range rules {
		if !slices.Contains(names, rule.Type) {
			names = append(names, rule.Type)
		}
	}
	if names != nil {
		f.Notes = []string{"it has rules, which may refuse a push: " + strings.Join(names, ", ") +
			"; let the token bypass them, or choose another `github.branchPrefix`"}
	}
	return f
}

// mayOpenPulls looks whether pull requests may be opened. If not, a person opens one.
func (g GitHub) mayOpenPulls(ctx context.Context, base string) error {
	if err := g.Client.MayOpenPulls(ctx, base); err != nil {
		return err
	}
	allowed, known, err := g.Client.JobsMayOpenPulls(ctx)
	if err != nil || !known || allowed {
		return nil //nolint:nilerr // then this token may, as far as is known
	}
	return fault.Usage("jobs of this repository may not open any, although this token may",
		"allow GitHub Actions to create pull requests in Settings → Actions → General, or give an App or `ci-token`",
		nil)
}
