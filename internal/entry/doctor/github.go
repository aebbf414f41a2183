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
	Stops  bool   `json:"stops"`          // no run gets anywhere with it
	Note   string `json:"note,omitempty"` // what people should know where nothing is wrong

	base string // of the repository
}

// GitHub says whose standing in which repository is looked at.
type GitHub struct {
	Client *github.Client
	Clone  string // where git finds it
	Base   string // the branch that work is for; the default one where empty
	Branch string // the one that it goes to
	Signed bool   // by GitHub, as github.commitSigning says
}

// Look asks GitHub for all that a run will need of it. Nothing is changed there.
func (g GitHub) Look(ctx context.Context) []Finding {
	seen := g.seen(ctx)
	g.Base = cmp.Or(g.Base, seen.base)
	if seen.Stops { // what cannot be seen has nothing more to tell
		return []Finding{seen}
	}
	return append(append([]Finding{seen}, g.Push(ctx)...),
		g.opens(ctx),
		passing("comments and labels", g.Client.MayWriteIssues(ctx)),
		passing("jobs: is one still at work?", g.Client.MayRead(ctx, "actions/runs", "actions: read")),
		passing("checks of a commit", g.Client.MayRead(ctx, "commits/"+g.Base+"/check-runs", "checks: read")),
		Finding{What: "workflow files", Note: "to change them a token needs `workflows: write`, which a job's token never has; they are protected by default"},
	)
}

// Push looks at what keeps work from the repository: with that no run is worth its money.
func (g GitHub) Push(ctx context.Context) []Finding {
	err := g.Client.MayPush(ctx, g.Clone)
	push := passing("pushes", err)
	push.Stops = errors.Is(err, github.Forbidden)
	return append([]Finding{push}, g.rules(ctx)...)
}

func (g GitHub) seen(ctx context.Context) Finding {
	const what = "the repository"
	base, archived, err := g.Client.DefaultBranch(ctx)
	known, is := errors.AsType[*github.Error](err)
	switch {
	case errors.Is(err, github.NotFound):
		return Finding{What: what, Gap: "it does not exist, or this token may not see it", Remedy: "use a token that may, with `contents: write`", Stops: true}
	case errors.Is(err, github.Unauthorized) || is && known.Unreached():
		return Finding{What: what, Gap: err.Error(), Remedy: fault.Hint(err), Stops: true}
	case archived:
		return Finding{What: what, Gap: "it is archived, and read-only", Remedy: "unarchive it in Settings → General", Stops: true}
	}
	f := passing(what, err)
	f.base = base
	return f
}

// opens looks whether pull requests may be opened. If not, a person opens one.
func (g GitHub) opens(ctx context.Context) Finding {
	const what = "pull requests"
	if err := g.Client.MayOpenPulls(ctx, g.Base); err != nil {
		return passing(what, err)
	}
	if may, known, err := g.Client.JobsMayOpenPulls(ctx); err == nil && known && !may {
		return Finding{
			What: what, Gap: "jobs of this repository may not open any, although this token may",
			Remedy: "allow GitHub Actions to create pull requests in Settings → Actions → General, or give an App or `ci-token`",
		}
	}
	return Finding{What: what}
}

// passing returns a finding that a run can live with; an answer that did not come is no gap.
func passing(what string, err error) Finding {
	f := Finding{What: what}
	switch {
	case err == nil:
	case errors.Is(err, github.Unavailable) || errors.Is(err, github.RateLimited):
		f.Note = "not known: " + err.Error()
	default:
		f.Gap, f.Remedy = err.Error(), fault.Hint(err)
	}
	return f
}

// Stops returns the findings with which no run gets anywhere.
func Stops(found []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f Finding) bool { return !f.Stops })
}

// Text returns what was found, for people.
func Text(title string, found []Finding) string {
	var b strings.Builder
	b.WriteString(title + "\n")
	for _, f := range found {
		var notes []string
		if f.Note != "" {
			notes = []string{f.Note}
		}
		b.WriteString(entry(mark(f.Gap == ""), f.What+behind(f.Gap), f.Remedy, notes...))
	}
	return b.String()
}
