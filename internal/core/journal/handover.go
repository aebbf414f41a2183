package journal

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/lib/clean"
)

// CommitsTaken records the hand-over of the agent's commits. To equals From if none was accepted.
type CommitsTaken struct {
	From    string    `json:"from"`
	To      string    `json:"to"`
	Tree    string    `json:"tree"`            // of To
	Work    string    `json:"work,omitempty"`  // tree id with uncommitted work; no repository: a digest of the files
	Dirty   bool      `json:"dirty,omitempty"` // the agent's tree has uncommitted work
	Swept   bool      `json:"swept,omitempty"` // ralph committed the agent's uncommitted work
	Commits []Commit  `json:"commits,omitempty"`
	Files   []string  `json:"files,omitempty"`   // changed by these commits, at most 100
	Dropped []string  `json:"dropped,omitempty"` // protected paths that a rewritten commit restored
	Refused []Finding `json:"refused,omitempty"` // why nothing was taken
	Huge    []string  `json:"huge,omitempty"`    // uncommitted files that are too large to commit

	Proposed []Proposal `json:"proposed,omitempty"` // the agent's versions of dropped files
}

func (e CommitsTaken) fold(r *Run, at time.Time) {
	r.Dirty = e.Dirty && !e.Swept                      // files that could not be committed are not tried again
	if r.IsMerging() && e.To != "" && e.To != e.From { // the merge is done
		joined := *r.Merging.Parted
		joined.To, joined.Tree = e.To, e.Tree
		r.Merging.Parted = nil
		r.Merging.Met = e.To
		r.Merging.Joins = append(r.Merging.Joins, joined)
	}
	if e.To != "" {
		r.Head, r.Tree = e.To, e.Tree
	}
	if it := r.updateOpen(at); it != nil {
		it.Taken = &e
	}
}

// Commit is one commit that was handed over.
type Commit struct {
	SHA     string `json:"sha"`
	Subject string `json:"subject"`
}

// Proposal is an agent's change to a protected file, which was restored.
type Proposal struct {
	Path  string `json:"path"`
	Patch string `json:"patch"`
	Cut   bool   `json:"cut,omitempty"` // there is more of the patch
}

// Finding is why a commit is refused.
type Finding struct {
	Commit string `json:"commit,omitempty"`
	Path   string `json:"path,omitempty"` // within the run's folder
	Why    string `json:"why"`
}

// Person is a GitHub user.
type Person struct {
	Login string `json:"login,omitempty"`
	ID    int64  `json:"id,omitempty"`
}

// Trailers returns the lines under ralph's commits and pull requests: run, story, requester.
func (r Run) Trailers(story string) []string {
	lines := []string{"Ralph-Run: " + r.ID}
	if story != "" {
		oneLine := strings.Join(strings.Fields(story), " ")
		lines = append(lines, "Ralph-Story: "+strings.TrimSpace(clean.CommitMessage(oneLine)))
	}
	if r.By.ID > 0 && strings.Trim(r.By.Login, loginCharacters) == "" {
		address := fmt.Sprintf("%d+%s@users.noreply.github.com", r.By.ID, r.By.Login)
		lines = append(lines, fmt.Sprintf("Co-authored-by: %s <%s>", r.By.Login, address))
	}
	return lines
}

// loginCharacters are those of people's logins. A bot has others, and is no author.
const loginCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
