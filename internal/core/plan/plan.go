// Package plan turns a task into stories. It reads an issue's text or a prd.json, reports all errors in it, and picks
// the next story. It touches no file and calls no model.
package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Plan is a prd.json: what to build, story by story.
type Plan struct {
	Project        string   `json:"project"`
	BranchName     string   `json:"branchName"`
	Description    string   `json:"description"`
	VerifyCommands []string `json:"verifyCommands" jsonschema:"pattern=\\S"`
	UserStories    []Story  `json:"userStories" jsonschema:"required,minItems=1,maxItems=200"`

	// Extra has the unknown keys, as an object. Agents keep notes in such keys, so they are written back.
	Extra jsontext.Value `json:",embed" jsonschema:"-"`
}

// Story is one piece of work, small enough for one iteration.
type Story struct {
	ID                 string   `json:"id" jsonschema:"required,pattern=\\S" check:"line"`
	Title              string   `json:"title" jsonschema:"required,pattern=\\S" check:"line"`
	Description        string   `json:"description"`
	AcceptanceCriteria []string `json:"acceptanceCriteria" jsonschema:"required,pattern=\\S,minItems=1"`
	Priority           int      `json:"priority"`
	Passes             bool     `json:"passes"`
	Notes              string   `json:"notes"`
	DependsOn          []string `json:"dependsOn" jsonschema:"pattern=\\S"`
	NeedsTest          *bool    `json:"needsTest,omitempty"`     // false: people decided that none is needed
	MayChangeTests     bool     `json:"mayChangeTests,omitzero"` // people expect existing tests to fail on the new code
	TestedBy           []string `json:"testedBy,omitempty"`      // the test of each criterion, in order

	Extra jsontext.Value `json:",embed" jsonschema:"-"` // like that of Plan
}

// Untested reports whether people marked the story as one that needs no test.
func (s Story) Untested() bool { return s.NeedsTest != nil && !*s.NeedsTest }

// Next returns the open story with the lowest priority number whose dependencies pass.
func (p Plan) Next() (Story, bool) {
	isOpen := func(id string) bool {
		needed, _ := p.Find(id)
		return !needed.Passes
	}
	ready := slices.DeleteFunc(p.Open(), func(s Story) bool { return slices.ContainsFunc(s.DependsOn, isOpen) })
	if len(ready) == 0 {
		return Story{}, false
	}
	return slices.MinFunc(ready, func(a, b Story) int { return cmp.Compare(a.Priority, b.Priority) }), true
}

// SharesStory reports whether two plans have a story with the same id and title. Every plan begins with the same ids.
func (p Plan) SharesStory(other Plan) bool {
	return slices.ContainsFunc(p.UserStories, func(s Story) bool {
		same, found := other.Find(s.ID)
		return found && same.Title == s.Title
	})
}

// Find returns the story with that id.
func (p Plan) Find(id string) (Story, bool) {
	for _, s := range p.UserStories {
		if s.ID == id {
			return s, true
		}
	}
	return Story{}, false
}

// Open lists the stories that do not pass, in the plan's order.
func (p Plan) Open() []Story {
	return slices.DeleteFunc(slices.Clone(p.UserStories), func(s Story) bool { return s.Passes })
}

// Done reports whether every story passes. A plan without stories is never done.
func (p Plan) Done() bool {
	return len(p.UserStories) > 0 && len(p.Open()) == 0
}

// Kind says where a task came from.
type Kind string

// The places a task can come from.
const (
	KindIssue  Kind = "issue"
	KindPull   Kind = "pull_request"
	KindPrompt Kind = "prompt" // text on the command line, or a file
)

// Task is an accepted request: what is wanted, and by whom.
type Task struct {
	Kind   Kind   `json:"kind"`
	Number int    `json:"number,omitempty"`
	Title  string `json:"title,omitempty"`
	Body   string `json:"body,omitempty"`
	Added  string `json:"added,omitempty"` // the end of the body: a comment that asks for more
	Author string `json:"author,omitempty"`
	URL    string `json:"url,omitempty"`
	Repo   string `json:"repo,omitempty"` // owner/name
	// Context has the comments of others about the task. They are not instructions.
	Context []Comment `json:"context,omitempty"`
	Remarks []Remark  `json:"remarks,omitempty"`
	Update  bool      `json:"update,omitempty"` // asks only to merge the base branch
	// Attempts counts the runs for red checks of a pull request, including this one.
	Attempts Attempts `json:"attempts,omitzero"`
}

// Comment is a comment on a task, and its place in the code if it has one.
type Comment struct {
	Author string    `json:"author,omitempty"`
	At     time.Time `json:"at,omitzero"`
	Where  string    `json:"where,omitempty"` // cart.go:12
	Hunk   string    `json:"hunk,omitempty"`  // the commented lines as a diff
	Text   string    `json:"text"`
}

// IsSame reports whether two tasks ask for the same work. Comments of others do not count.
func (t Task) IsSame(other Task) bool {
	if t.Repo != other.Repo || t.Kind != other.Kind || t.Number != other.Number {
		return false
	}
	if t.URL != other.URL || t.Author != other.Author {
		return false
	}
	if t.Title != other.Title || t.Body != other.Body {
		return false
	}
	return t.Update == other.Update && slices.EqualFunc(t.Remarks, other.Remarks, isSameRemark)
}

// String returns a name for messages, such as issue #12.
func (t Task) String() string {
	name := cmp.Or(strings.ReplaceAll(string(t.Kind), "_", " "), "task")
	if t.Number == 0 {
		return name
	}
	return fmt.Sprintf("%s #%d", name, t.Number)
}

// MergeLog merges an agent's changes to the progress log. The agent may change the text above the rule ("---"), and add
// lines below it. If entries below it are gone, the kept log stays, followed by the new lines.
func MergeLog(kept, proposed string) (log string, restored bool) {
	entries := strings.TrimSpace(belowRule(kept))
	if strings.Contains(proposed, entries) {
		return proposed, false
	}
	merged := strings.TrimSpace(kept) + "\n"
	if fresh := newLines(kept, proposed); fresh != "" {
		merged += "\n" + fresh + "\n"
	}
	return merged, true
}

// belowRule returns a log below its first rule.
func belowRule(log string) string {
	end := 0
	for line := range strings.Lines(log) {
		end += len(line)
		if strings.TrimSpace(line) == "---" {
			return log[end:]
		}
	}
	return ""
}

func newLines(kept, text string) string {
	known := map[string]bool{}
	for line := range strings.Lines(kept) {
		known[strings.TrimSpace(line)] = true
	}
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		line = strings.TrimSpace(line)
		return line != "" && known[line]
	})
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
