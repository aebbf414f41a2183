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

// Finding is what was looked at, and what it came to.
type Finding struct {
	What   string `json:"what"`
	Gap    string `json:"gap,omitempty"` // what is wrong with it
	Remedy string `json:"remedy,omitempty"`
	Stops  bool   `json:"stops"` // no run gets anywhere with it

	Notes []string `json:"notes,omitempty"` // what people should know besides

	base string // of the repository
}

func (f Finding) stopped(err error) Finding {
	f.Gap = err.Error()
	f.Remedy = fault.Hint(err)
	f.Stops = true
	return f
}

// GitHub says whose standing in which repository is looked at.
type GitHub struct {
	Client *github.Client
	Clone  string // where git finds it
	Base   string // the branch that work is for; the default one where empty
	Branch string // the one that it goes to
}

// Look asks GitHub for all that a run will need of it. Nothing is changed there.
func (g GitHub) Look(ctx context.Context) []Finding {
	repository := g.repository(ctx)
	g.Base = cmp.Or(g.Base, repository.base)
	found := []Finding{repository}
	if repository.Stops { // GitHub would refuse the other questions, too
		return found
	}
	return append(found,
		g.Push(ctx),
		g.rules(ctx),
		g.pulls(ctx),
		passing("comments and labels", g.Client.MayWriteIssues(ctx)),
		passing("jobs: is one still at work?", g.Client.MayRead(ctx, "actions/runs", "actions: read")),
		passing("checks of a commit", g.Client.MayRead(ctx, "commits/"+g.Base+"/check-runs", "checks: read")),
		Finding{
			What: "workflow files",
			Notes: []string{"to change them a token needs `workflows: write`, which a job's token never has; " +
				"they are protected by default"},
		},
	)
}

// Push looks whether work can be pushed: without that no run is worth its money.
func (g GitHub) Push(ctx context.Context) Finding {
	err := g.Client.MayPush(ctx, g.Clone)
	push := passing("pushes", err)
	push.Stops = errors.Is(err, github.Forbidden)
	return push
}

// rules names the rules of the branch. What they refuse, GitHub says at the push.
func (g GitHub) rules(ctx context.Context) Finding {
	what := "the branch " + g.Branch
	rules, err := g.Client.Rules(ctx, g.Branch)
	if err != nil {
		return passing(what, err)
	}
	var names []string
	for _, rule := range rules {
		if !slices.Contains(names, rule.Type) {
			names = append(names, rule.Type)
		}
	}
	if names == nil {
		return Finding{What: what}
	}
	return Finding{
		What: what,
		Notes: []string{"it has rules, which may refuse a push: " + strings.Join(names, ", ") +
			"; let the token bypass them, or choose another `github.branchPrefix`"},
	}
}

// repository looks whether this token can see the repository, and whether it can change.
func (g GitHub) repository(ctx context.Context) Finding {
	const what = "the repository"
	stop := func(gap, remedy string) Finding {
		return Finding{What: what, Gap: gap, Remedy: remedy, Stops: true}
	}
	base, archived, err := g.Client.DefaultBranch(ctx)
	apiError, ok := errors.AsType[*github.Error](err)
	unreached := ok && apiError.Unreached()
	switch {
	case errors.Is(err, github.NotFound):
		return stop("it does not exist, or this token may not see it", "use a token that may, with `contents: write`")
	case errors.Is(err, github.Unauthorized) || unreached:
		return stop(err.Error(), fault.Hint(err))
	case archived:
		return stop("it is archived, and read-only", "unarchive it in Settings → General")
	}
	f := passing(what, err)
	f.base = base
	return f
}

// pulls looks whether pull requests may be opened. If not, a person opens one.
func (g GitHub) pulls(ctx context.Context) Finding {
	const what = "pull requests"
	if err := g.Client.MayOpenPulls(ctx, g.Base); err != nil {
		return passing(what, err)
	}
	allowed, known, err := g.Client.JobsMayOpenPulls(ctx)
	if err != nil || !known || allowed {
		return Finding{What: what}
	}
	return Finding{
		What: what,
		Gap:  "jobs of this repository may not open any, although this token may",
		Remedy: "allow GitHub Actions to create pull requests in Settings → Actions → General, " +
			"or give an App or `ci-token`",
	}
}

// passing returns a finding that a run can live with; an answer that did not come is no gap.
func passing(what string, err error) Finding {
	f := Finding{What: what}
	switch {
	case err == nil:
	case errors.Is(err, github.Unavailable) || errors.Is(err, github.RateLimited):
		f.Notes = []string{"not known: " + err.Error()}
	default:
		f.Gap, f.Remedy = err.Error(), fault.Hint(err)
	}
	return f
}

// Stops returns the findings with which no run gets anywhere.
func Stops(found []Finding) []Finding {
	var stops []Finding
	for _, f := range found {
		if f.Stops {
			stops = append(stops, f)
		}
	}
	return stops
}

// Text returns what was found, for people.
func Text(title string, found []Finding) string {
	var b strings.Builder
	b.WriteString(title + "\n")
	for _, f := range found {
		b.WriteString(entry(mark(f.Gap == ""), f.What+colon(f.Gap), f.Remedy, f.Notes...))
	}
	return b.String()
}
