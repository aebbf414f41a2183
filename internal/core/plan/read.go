package plan

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ralph-loop/ralph/internal/lib/jsontree"
)

const (
	maxBytes   = 1 << 20
	maxStories = 200 // as the tag of Plan says
)

// Read reads a prd.json strictly. Its error, an *Invalid, lists all problems; name is for messages.
func Read(name string, data []byte) (Plan, error) { return read(name, data, false) }

// Audit is Read for the plan at the end of a loop: it requires more keys, and notes for passed stories.
func Audit(name string, data []byte) (Plan, error) { return read(name, data, true) }

func read(name string, data []byte, audit bool) (Plan, error) {
	root, wrong := jsontree.Parse(name, data, maxBytes)
	d := jsontree.Decoder{Open: true, Check: checkLine}
	var p Plan
	if wrong != nil {
		d.Problems = []jsontree.Problem{*wrong}
	} else {
		p = decode(&d, jsontree.At{Node: root}, audit)
	}
	if len(d.Problems) > 0 {
		return Plan{}, &Invalid{Name: name, Problems: d.Problems}
	}
	return p, nil
}

// checkLine reports line breaks in texts for commit subjects and headings.
func checkLine(text jsontree.Node, _, check string) string {
	if check == "line" && strings.ContainsFunc(text.Text, unicode.IsControl) {
		return fmt.Sprintf("found %s, want one line of text", text)
	}
	return ""
}

func decode(d *jsontree.Decoder, root jsontree.At, audit bool) Plan {
	var p Plan
	d.Decode(root, &p)
	p.Extra = unknownKeys(root, reflect.TypeFor[Plan]())
	list, _ := root.Member("userStories")
	for i := range p.UserStories {
		story, at := &p.UserStories[i], list.Item(i)
		story.Extra = unknownKeys(at, reflect.TypeFor[Story]())
		if _, given := at.Member("priority"); !given {
			story.Priority = i + 1
		}
		if notes, _ := at.Member("notes"); audit && story.Passes && blank(story.Notes) {
			d.Report(notes, "passes without notes, want what was done")
		}
	}
	if audit {
		require(d, root, "project", "branchName", "description")
		for i := range list.Items {
			require(d, list.Item(i), "priority", "passes")
		}
	}
	checkDependencies(d, list, p.UserStories)
	nameStories(d.Problems, list)
	return p
}

func require(d *jsontree.Decoder, at jsontree.At, keys ...string) {
	for _, key := range keys {
		if value, given := at.Member(key); !given {
			d.Report(value, "missing")
		}
	}
}

// checkDependencies reports equal ids, unknown dependencies, and stories that wait for each other.
func checkDependencies(d *jsontree.Decoder, list jsontree.At, stories []Story) {
	var ids []string
	idOf := func(story int) jsontree.At {
		id, _ := list.Item(story).Member("id")
		return id
	}
	for i, s := range stories {
		if slices.Contains(ids, s.ID) && !blank(s.ID) {
			d.Report(idOf(i), "used by an earlier story, want an id of its own")
		}
		ids = append(ids, s.ID)
	}
	for i, s := range stories {
		needed, _ := list.Item(i).Member("dependsOn")
		for j, dep := range s.DependsOn {
			if !slices.Contains(ids, dep) && !blank(dep) {
				d.Report(needed.Item(j), "%s", unknownDependency(dep, ids))
			}
		}
	}
	if circle := neverReady(stories, ids); len(circle) > 0 {
		first := idOf(slices.Index(ids, circle[0]))
		names := jsontree.Clip(strings.Join(circle, ", "), maxTitle)
		d.Report(first, "can never begin: these stories wait for each other: %s", names)
	}
}

func unknownDependency(dep string, ids []string) string {
	text := fmt.Sprintf("depends on %q, which is not a story here", jsontree.Clip(dep, jsontree.MaxFound))
	if near, ok := jsontree.Nearest(dep, ids); ok {
		text += fmt.Sprintf(", did you mean %q?", near)
	}
	return text
}

// neverReady returns the stories that depend on themselves, directly or through others.
func neverReady(stories []Story, ids []string) []string {
	waiting := slices.Clone(ids)
	for before := 0; len(waiting) != before; {
		before = len(waiting)
		for _, s := range stories {
			if !slices.ContainsFunc(s.DependsOn, func(id string) bool { return slices.Contains(waiting, id) }) {
				waiting = slices.DeleteFunc(waiting, func(id string) bool { return id == s.ID })
			}
		}
	}
	return waiting
}

// nameStories adds the ids of stories to the places of problems in them.
func nameStories(problems []jsontree.Problem, list jsontree.At) {
	for i, problem := range problems {
		var story int
		if n, _ := fmt.Sscanf(problem.Path, "userStories[%d]", &story); n == 0 || story >= len(list.Items) {
			continue
		}
		if id, _ := list.Item(story).Member("id"); id.Text != "" {
			problems[i].Path += " (" + jsontree.Clip(id.Text, jsontree.MaxFound) + ")"
		}
	}
}

// unknownKeys returns the unknown members of an object as an object, or nil.
func unknownKeys(from jsontree.At, known reflect.Type) jsontext.Value {
	var out bytes.Buffer
	to := jsontext.NewEncoder(&out, exact)
	_ = to.WriteToken(jsontext.BeginObject) // no error is possible: the values were parsed before
	keys := jsontree.Keys(known)
	for _, m := range from.Members {
		if slices.Contains(keys, m.Key) {
			continue
		}
		_ = to.WriteToken(jsontext.String(m.Key))
		_ = to.WriteValue(jsontext.Value(m.Value.Raw))
	}
	_ = to.WriteToken(jsontext.EndObject)
	if object := bytes.TrimSpace(out.Bytes()); string(object) != "{}" {
		return object
	}
	return nil
}

const maxShown = 20

// Invalid is the error for a plan with problems.
type Invalid struct {
	Name     string // the file, or the issue
	Problems []jsontree.Problem
}

// Error lists the problems, one on a line.
func (e *Invalid) Error() string {
	for i := range e.Problems {
		e.Problems[i].File = e.Name
	}
	return jsontree.Describe(e.Problems, maxShown, e.Name+" is not a valid plan")
}
