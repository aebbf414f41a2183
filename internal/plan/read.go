package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/jsontree"
)

const (
	maxBytes   = 1 << 20
	maxStories = 200
)

// keySet is which keys an object may have. Audit also requires the expected keys.
type keySet struct{ known, required, expected []string }

var (
	planKeys = keySet{
		known:    []string{"project", "branchName", "description", "verifyCommands", "userStories"},
		required: []string{"userStories"},
		expected: []string{"project", "branchName", "description"},
	}
	storyKeys = keySet{
		known: []string{
			"id", "title", "description", "acceptanceCriteria", "priority", "passes", "notes", "dependsOn", "needsTest", "mayChangeTests",
			"testedBy",
		},
		required: []string{"id", "title", "acceptanceCriteria"},
		expected: []string{"priority", "passes"},
	}
)

// Read reads a prd.json strictly. Its error, an *Invalid, lists all problems of the data called name.
func Read(name string, data []byte) (Plan, error) {
	return read(input{name: name, data: data})
}

// Audit is Read for a plan that a loop has left: it requires more keys, and notes for passed stories.
func Audit(name string, data []byte) (Plan, error) {
	return read(input{name: name, data: data, audit: true})
}

type input struct {
	name       string
	data       []byte
	linesAbove int  // lines of an issue above the data
	isTitle    bool // name is a title, not a path
	audit      bool
}

func read(in input) (Plan, error) {
	r := reader{input: in, invalid: &Invalid{Name: in.name, isTitle: in.isTitle}}
	root, wrong := jsontree.Parse(in.name, in.data, maxBytes)
	if wrong != nil {
		r.invalid.Problems = []Problem{{Line: wrong.Line, Column: wrong.Column, Text: wrong.Text}}
		if wrong.Line > 0 {
			r.invalid.Problems[0].Line += r.linesAbove
		}
		return Plan{}, r.invalid
	}
	r.reportDuplicates(value{Node: root})
	p := r.plan(value{Node: root})
	if err := r.invalid.orNil(); err != nil {
		return Plan{}, err
	}
	return p, nil
}

type reader struct {
	input
	invalid *Invalid
}

func (r *reader) plan(s value) Plan {
	if !r.checkObject(s, planKeys) {
		return Plan{}
	}
	return Plan{
		Project:        r.text(s.field("project")),
		BranchName:     r.text(s.field("branchName")),
		Description:    r.text(s.field("description")),
		VerifyCommands: r.textList(s.field("verifyCommands")),
		UserStories:    r.stories(s.field("userStories")),
		Extra:          unknownKeys(s.Node, planKeys),
	}
}

func (r *reader) stories(list value) []Story {
	if list.Kind == jsontree.List && len(list.Items) == 0 {
		r.report(list, "no stories, want at least one")
	}
	if len(list.Items) > maxStories {
		r.report(list, "found %d stories, want at most %d", len(list.Items), maxStories)
		return nil
	}
	var stories []Story
	for i, item := range r.list(list) {
		stories = append(stories, r.story(item, i+1))
	}
	for _, t := range dependencyDefects(stories) {
		r.report(list.ofDefect(t), "%s", t.text)
	}
	return stories
}

func (r *reader) story(s value, position int) Story {
	id := member(s.Node, "id")
	s.story = id.Text
	if !r.checkObject(s, storyKeys) {
		return Story{}
	}
	out := Story{
		ID:                 r.line(s.field("id")),
		Title:              r.line(s.field("title")),
		Description:        r.text(s.field("description")),
		AcceptanceCriteria: r.textList(s.field("acceptanceCriteria")),
		Priority:           r.integer(s.field("priority"), position),
		Passes:             r.flag(s.field("passes")),
		Notes:              r.text(s.field("notes")),
		DependsOn:          r.textList(s.field("dependsOn")),
		NeedsTest:          r.optionalFlag(s.field("needsTest")),
		MayChangeTests:     r.flag(s.field("mayChangeTests")),
		TestedBy:           r.anyTextList(s.field("testedBy")),
		Extra:              unknownKeys(s.Node, storyKeys),
	}
	if list := s.field("acceptanceCriteria"); list.Kind == jsontree.List && len(list.Items) == 0 {
		r.report(list, "empty, want at least one criterion")
	}
	if r.audit && out.Passes && blank(out.Notes) {
		r.report(s.field("notes"), "passes without notes, want what was done")
	}
	return out
}

const maxShown = 20

// Problem is one error in a plan, and its place.
type Problem struct {
	Line, Column int    // 0 if unknown
	Path         string // userStories[2].priority
	Story        string // the id of the story, if any
	Text         string // what was found and what is wanted
}

// Invalid lists all problems of one plan.
type Invalid struct {
	Name     string // the file, or the issue
	Problems []Problem

	isTitle bool // Name is a title, not a path
}

// Error lists the problems, one on a line.
func (e *Invalid) Error() string {
	if len(e.Problems) == 1 {
		return e.line(e.Problems[0])
	}
	lines := []string{fmt.Sprintf("%s is not a valid plan: %d problems", e.Name, len(e.Problems))}
	for i, p := range e.Problems {
		if i == maxShown {
			lines = append(lines, fmt.Sprintf("and %d more", len(e.Problems)-maxShown))
			break
		}
		lines = append(lines, e.line(p))
	}
	return strings.Join(lines, "\n")
}

func (e *Invalid) line(p Problem) string {
	parts := []string{e.where(p), p.Path, p.Text}
	switch {
	case p.Story != "" && p.Path != "":
		parts[1] = fmt.Sprintf("%s (%s)", p.Path, jsontree.Clip(p.Story, jsontree.MaxFound))
	case p.Story != "":
		parts[1] = jsontree.Clip(p.Story, jsontree.MaxFound)
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return oneLine(strings.Join(parts, ": "))
}

func (e *Invalid) where(p Problem) string {
	switch {
	case p.Line == 0:
		return e.Name
	case e.isTitle:
		return fmt.Sprintf("%s, line %d", e.Name, p.Line)
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", e.Name, p.Line)
	default:
		return fmt.Sprintf("%s:%d:%d", e.Name, p.Line, p.Column)
	}
}

func (e *Invalid) orNil() error {
	if len(e.Problems) == 0 {
		return nil
	}
	slices.SortStableFunc(e.Problems, func(a, b Problem) int { return a.Line - b.Line })
	return e
}
