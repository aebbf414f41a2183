package scripted

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/jsontree"
)

// script is a whole script, by what its files are for: the number of an
// iteration, a story, or "*".
type script struct {
	title  string
	scenes map[string][]step
}

// step is one file of a script.
type step struct {
	place string // name:line, for errors
	act   action
}

type action func(context.Context, *player) error

// kind makes the action of a file from the rest of its name and its text.
type kind struct {
	named bool // more follows in the name: a path
	plan  func(path, text string) (action, error)
}

// scene lists the actions of an iteration.
func (s script) scene(iteration int, story string) []step {
	for _, key := range []string{strconv.Itoa(iteration), story, "*"} {
		if steps, there := s.scenes[key]; there && key != "" {
			return steps
		}
	}
	return nil
}

func readScript(name string, data []byte) (script, error) {
	if name == "" {
		name = "script"
	}
	archive := txtar.Parse(data)
	s := script{title: oneLine(string(archive.Comment)), scenes: map[string][]step{}}
	lines := markers(string(data))
	for i, file := range archive.Files {
		place := fmt.Sprintf("%s:%d", name, lines[i])
		when, act, err := readStep(file)
		if err != nil {
			return script{}, fault.Usage(fmt.Sprintf("%s: %s", place, err), `name files "1/write/path", "1/commit", "*/say" …`, nil)
		}
		s.scenes[when] = append(s.scenes[when], step{place, act})
	}
	return s, nil
}

func readStep(file txtar.File) (when string, act action, err error) {
	when, what, _ := strings.Cut(file.Name, "/")
	what, path, named := strings.Cut(what, "/")
	kind, is := kinds[what]
	known := slices.Sorted(maps.Keys(kinds))
	switch {
	case when == "" || what == "":
		return "", nil, fmt.Errorf("%q does not say when and what", file.Name)
	case !is:
		return "", nil, fmt.Errorf("unknown kind %q, %s", what, nearest(what, known))
	case named != kind.named:
		return "", nil, fmt.Errorf("%q: a path belongs to write and delete, and to them alone", file.Name)
	case named && !filepath.IsLocal(path):
		return "", nil, fmt.Errorf("%q leaves the working directory", path)
	}
	act, err = kind.plan(path, string(file.Data))
	return when, act, err
}

// markers returns the line of each file's marker, which txtar does not keep.
func markers(text string) []int {
	var found []int
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		name, marked := strings.CutPrefix(line, "-- ")
		name, ended := strings.CutSuffix(name, " --")
		if marked && ended && strings.TrimSpace(name) != "" {
			found = append(found, number)
		}
	}
	return found
}

// field is a line of "name: value".
type field struct{ name, value string }

func fields(text string) []field {
	var out []field
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, field{name, strings.TrimSpace(value)})
		}
	}
	return out
}

func nearest(word string, known []string) string {
	if near, found := jsontree.Nearest(word, known); found {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "there are " + strings.Join(known, ", ")
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
