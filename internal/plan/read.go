package plan

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxBytes   = 1 << 20
	maxStories = 200
)

// shape is what an object may hold. The audited keys are those that seed
// 000's stop hook wants to see although a reader could do without.
type shape struct{ known, required, audited []string }

var (
	planShape = shape{
		known:    []string{"project", "branchName", "description", "verifyCommands", "userStories"},
		required: []string{"userStories"},
		audited:  []string{"project", "branchName", "description"},
	}
	storyShape = shape{
		known: []string{
			"id", "title", "description", "acceptanceCriteria", "priority", "passes", "notes", "dependsOn", "needsTest", "mayChangeTests",
			"testedBy",
		},
		required: []string{"id", "title", "acceptanceCriteria"},
		audited:  []string{"priority", "passes"},
	}
)

// Read makes a plan of a prd.json. It is strict, and its error, an *Invalid,
// lists all that is wrong. Name is what to call the data: a path, mostly.
func Read(name string, data []byte) (Plan, error) {
	return read(input{name: name, data: data})
}

// Audit reads as Read does and asks for what a loop should leave behind too:
// no field left out, and no story that passes without a note of what was done.
func Audit(name string, data []byte) (Plan, error) {
	return read(input{name: name, data: data, audit: true})
}

type input struct {
	name  string
	data  []byte
	above int  // lines of an issue above the data
	prose bool // name is words, not a path
	audit bool
}

func read(in input) (Plan, error) {
	r := reader{input: in, bad: &Invalid{Name: in.name, prose: in.prose}}
	r.data = bytes.TrimPrefix(r.data, []byte("\uFEFF"))
	r.breaks = lineBreaks(r.data)
	root, ok := r.root()
	if !ok {
		return Plan{}, r.bad.orNil()
	}
	p := r.plan(spot{node: root})
	if err := r.bad.orNil(); err != nil {
		return Plan{}, err
	}
	return p, nil
}

type reader struct {
	input
	bad    *Invalid
	breaks []int // where the lines end
}

func (r *reader) root() (node, bool) {
	if len(r.data) > maxBytes {
		r.bad.Problems = []Problem{{Text: fmt.Sprintf("found %d bytes, want at most %d", len(r.data), maxBytes)}}
		return node{}, false
	}
	if at := invalidUTF8(r.data); at >= 0 {
		r.complain(spot{node: node{at: at}}, "found a byte that is not UTF-8, want text")
		return node{}, false
	}
	root, twins, err := parse(r.data)
	if err != nil {
		r.bad.Problems = []Problem{syntax(r.data, r.above, err)}
		return node{}, false
	}
	for _, t := range twins {
		r.complain(spot{node{at: t.at}, join(t.path, t.key), ""}, "there twice, want one")
	}
	return root, true
}

func lineBreaks(data []byte) []int {
	var breaks []int
	for at, b := range data {
		if b == '\n' {
			breaks = append(breaks, at)
		}
	}
	return breaks
}

func invalidUTF8(data []byte) int {
	for at := 0; at < len(data); {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}

func (r *reader) plan(s spot) Plan {
	if !r.object(s, planShape) {
		return Plan{}
	}
	return Plan{
		Project:        r.text(s.field("project")),
		BranchName:     r.text(s.field("branchName")),
		Description:    r.text(s.field("description")),
		VerifyCommands: r.lines(s.field("verifyCommands")),
		UserStories:    r.stories(s.field("userStories")),
		Extra:          r.extra(s, planShape),
	}
}

func (r *reader) stories(list spot) []Story {
	if list.kind == '[' && len(list.items) == 0 {
		r.complain(list, "no stories, want at least one")
	}
	if len(list.items) > maxStories {
		r.complain(list, "found %d stories, want at most %d", len(list.items), maxStories)
		return nil
	}
	var stories []Story
	for i, item := range r.list(list) {
		stories = append(stories, r.story(item, i+1))
	}
	for _, t := range tangles(stories) {
		r.complain(list.tangled(t), "%s", t.text)
	}
	return stories
}

func (r *reader) story(s spot, position int) Story {
	id := s.member("id")
	s.story = id.text
	if !r.object(s, storyShape) {
		return Story{}
	}
	out := Story{
		ID:                 r.title(s.field("id")),
		Title:              r.title(s.field("title")),
		Description:        r.text(s.field("description")),
		AcceptanceCriteria: r.lines(s.field("acceptanceCriteria")),
		Priority:           r.whole(s.field("priority"), position),
		Passes:             r.flag(s.field("passes")),
		Notes:              r.text(s.field("notes")),
		DependsOn:          r.lines(s.field("dependsOn")),
		NeedsTest:          r.choice(s.field("needsTest")),
		MayChangeTests:     r.flag(s.field("mayChangeTests")),
		TestedBy:           r.names(s.field("testedBy")),
		Extra:              r.extra(s, storyShape),
	}
	if list := s.field("acceptanceCriteria"); list.kind == '[' && len(list.items) == 0 {
		r.complain(list, "empty, want at least one criterion")
	}
	if r.audit && out.Passes && blank(out.Notes) {
		r.complain(s.field("notes"), "passes without notes, want what was done")
	}
	return out
}

// maxShown is how many problems an error lists: more are no help.
const maxShown = 20

// Problem is one thing that is wrong with a plan, and where.
type Problem struct {
	Line, Column int    // 0 where it has none
	Path         string // userStories[2].priority
	Story        string // the id of the story, where it has one
	Text         string // what was found and what is wanted
}

// Invalid is all that is wrong with one plan.
type Invalid struct {
	Name     string // the file, or the issue
	Problems []Problem

	prose bool // Name is words, not a path
}

// Error lists the problems, one a line. The first line stands alone.
func (e *Invalid) Error() string {
	if len(e.Problems) == 1 {
		return e.line(e.Problems[0])
	}
	lines := []string{fmt.Sprintf("%s is no valid plan: %d problems", e.Name, len(e.Problems))}
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
		parts[1] = fmt.Sprintf("%s (%s)", p.Path, clip(p.Story, maxFound))
	case p.Story != "":
		parts[1] = clip(p.Story, maxFound)
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return oneLine(strings.Join(parts, ": "))
}

func (e *Invalid) where(p Problem) string {
	switch {
	case p.Line == 0:
		return e.Name
	case e.prose:
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

const maxFound = 60

// clip cuts a text to n runes, the last of them dots where it was longer.
func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:n-1])) + "…"
}
