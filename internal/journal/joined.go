package journal

import "time"

// Line is a line of work that others may add to.
type Line string

// OfBranch is the run's own branch, OfBase the one that the work is for.
const (
	OfBranch Line = "branch"
	OfBase   Line = "base"
)

// Joined says that what others did meanwhile was merged with the work, or could
// not be. To equals From where nothing came of it.
type Joined struct {
	Of        Line     `json:"of"`
	From      string   `json:"from"` // the newest commit of the work
	With      string   `json:"with"` // where that line stands
	To        string   `json:"to"`   // holds both
	Tree      string   `json:"tree,omitempty"`
	By        []string `json:"by,omitempty"`        // who made what was merged
	Commits   int      `json:"commits,omitempty"`   // how many there are
	Protected []string `json:"protected,omitempty"` // files that an agent may not change and they did
	Conflicts []string `json:"conflicts,omitempty"` // files in which the two contradict each other
	Aside     string   `json:"aside,omitempty"`     // a branch on which the work lies then
}

// fold takes what came out for the work. What an agent's files were like before
// says nothing any more of whether it did something.
func (e Joined) fold(r *Run, _ time.Time) {
	r.Failures = nil
	if e.Of == OfBase {
		r.Met = e.To
	}
	if len(e.Conflicts) > 0 {
		r.Parted = &e
		return
	}
	switch {
	case e.Of == OfBranch:
		r.Pushed = e.With
	case r.Start == r.Base:
		r.Start, r.Base = e.With, e.With
	default:
		r.Base = e.With
	}
	if e.To == "" || e.To == r.Head {
		return
	}
	r.Head, r.Tree, r.Work = e.To, e.Tree, ""
	r.Joins = append(r.Joins, e)
	if n := len(r.Iterations); n > 0 && r.Iterations[n-1].Taken != nil {
		taken := *r.Iterations[n-1].Taken
		taken.Work = ""
		r.Iterations[n-1].Taken = &taken
	}
}

// Branched says that the work goes on on another branch.
type Branched struct {
	From string `json:"from"`
	To   string `json:"to"`
	Why  string `json:"why"`
}

// fold forgets what was shown of the other branch: its pull request is not this
// one's.
func (e Branched) fold(r *Run, _ time.Time) {
	r.Branch, r.Pushed, r.Pull, r.Failures = e.To, "", nil, nil
	r.Leaves = append(r.Leaves, e)
}

// Packed says that work which could not be pushed is in a file.
type Packed struct {
	Path string `json:"path"` // from the job's workspace
	Head string `json:"head"` // the newest commit in it

	Rest    string   `json:"rest,omitempty"`    // a branch with all but some files
	Without []string `json:"without,omitempty"` // which are these

	Patch string `json:"patch,omitempty"` // the same work, where it is small
}

func (e Packed) fold(r *Run, _ time.Time) {
	r.Packed = &e
}
