package verdict

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/journal"
)

// ready is what is left to do until the pull request asks for a review: first
// it is looked whether others have gone on meanwhile, as what they did and this
// work were never proven together.
func ready(run journal.Run) (Step, bool) {
	switch {
	case !Sound(run) || run.Pull == nil || !run.Pull.Draft || run.Policy.Draft:
		return nil, false
	case run.Met != run.Head && !failed(run, "join"):
		return Join{}, true
	case run.Met != run.Head || run.Parted != nil || failed(run, "ready"):
		return nil, false
	}
	return ReadyPull{}, true
}

// parted is why the branch cannot be gone on with before a person has had a
// look; empty where it can.
func parted(run journal.Run) string {
	p := run.Parted
	if p == nil || p.Of != journal.OfBranch {
		return ""
	}
	why := fmt.Sprintf("%s was pushed to %s meanwhile (%.7s), and conflicts with ralph's work (%.7s) in: %s",
		people(p.By), run.Branch, p.With, p.From, journal.Few(p.Conflicts))
	if p.Aside == "" {
		return why
	}
	return fmt.Sprintf("%s. Ralph's work is on %s: merge it into %s, push, and let ralph continue", why, p.Aside, run.Branch)
}

// people is whose work something is.
func people(names []string) string {
	if len(names) == 0 {
		return "work of others"
	}
	return "work of " + journal.Few(names)
}
