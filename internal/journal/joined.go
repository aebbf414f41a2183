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
	FromTree  string   `json:"from_tree,omitempty"` // of From, where To is a merge that the agent is to finish
}

// fold takes what came out for the work. Where the agent is to finish a merge of the
// base, that is a story.
func (e Joined) fold(r *Run, _ time.Time) {
	r.Failures = nil
	if e.Of == OfBase {
		r.Met = e.To
	}
	if len(e.Conflicts) > 0 {
		if r.Parted = &e; !r.IsMerging() {
			return
		}
		r.Plan, r.MergeStory = r.Plan.WithMerge(r.MergeStory, r.BaseRef, r.Branch, e.Conflicts)
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
	if r.moveTo(e.To, e.Tree); !r.IsMerging() {
		r.addMerge(e)
	}
}

// moveTo has the work stand at a commit. What an agent's files were like before says
// nothing any more of whether it did something.
func (r *Run) moveTo(head, tree string) {
	r.Head, r.Tree, r.Work = head, tree, ""
	if n := len(r.Iterations); n > 0 && r.Iterations[n-1].Taken != nil {
		taken := *r.Iterations[n-1].Taken
		taken.Work = ""
		r.Iterations[n-1].Taken = &taken
	}
}

// addMerge puts a merge on record. One of the base is all that a story of a merge asks
// for, unless the agent has still to claim it.
func (r *Run) addMerge(e Joined) {
	r.Joins = append(r.Joins, e)
	if e.Of != OfBase || len(e.Conflicts) > 0 {
		return
	}
	for i, story := range r.Plan.UserStories {
		r.Plan.UserStories[i].Passes = story.Passes || story.ID == r.MergeStory
	}
}

// IsMerging tells whether the head is a merge with the base whose files still hold the
// marks of both sides: it is pushed nowhere.
func (r Run) IsMerging() bool {
	return r.Parted != nil && r.Parted.Of == OfBase && r.Parted.To != r.Parted.From
}

// undoMerge takes back a merge that the agent did not finish.
func (r *Run) undoMerge() {
	if !r.IsMerging() {
		return
	}
	parted := *r.Parted
	parted.To = parted.From
	r.moveTo(parted.From, parted.FromTree)
	r.Parted, r.Met = &parted, parted.From
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
