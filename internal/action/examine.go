package action

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/doctor"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// admitted tells whether the run may begin: whether it can get anywhere at all, and
// fits beside others.
func (v *visit) admitted(ctx context.Context, asked *job.Asked, old journal.Run, way verdict.Way) error {
	if way.GoOn == nil { // it is another run, with a branch of its own
		old = journal.Run{}
	}
	if err := v.examine(ctx, *asked, old); err != nil {
		return err
	}
	return v.enter(ctx, asked, old)
}

// examine looks whether the work could be pushed at all, before anything is spent. If
// not, all that is wrong is looked for, so that people hear of it at once.
func (v *visit) examine(ctx context.Context, asked job.Asked, old journal.Run) error {
	look := doctor.GitHub{
		Client: v.hub.starting(), Clone: v.clone(), Base: asked.BaseRef, Branch: cmp.Or(old.Branch, asked.Branch), Signed: asked.Policy.Sign,
	}
	if len(doctor.Stops(look.Push(ctx))) == 0 {
		return nil
	}
	var gaps, remedies []string
	for _, f := range append(look.Look(ctx), v.site(ctx, asked)) {
		if f.Gap != "" {
			gaps, remedies = append(gaps, f.What+": "+f.Gap), append(remedies, f.Remedy)
		}
	}
	return fault.Usage("nothing was begun: "+numbered(gaps), numbered(remedies), nil)
}

// site is whether the run could be done here: agent, key, git and wall.
func (v *visit) site(ctx context.Context, asked job.Asked) doctor.Finding {
	j, err := v.job(ctx, asked.Policy)
	if err != nil {
		return doctor.Finding{What: "this machine", Gap: err.Error(), Remedy: fault.Hint(err)}
	}
	v.lower(j.Wall, j.Held)
	return doctor.Finding{}
}

// numbered are texts of which the first belongs to the first of another list.
func numbered(texts []string) string {
	if len(texts) == 1 {
		return texts[0]
	}
	var b strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&b, "(%d) %s; ", i+1, cmp.Or(text, "see above"))
	}
	return strings.TrimSuffix(b.String(), "; ")
}
