package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/jsontree"
)

// decoder decodes nodes and collects all errors in them, to report them together.
type decoder struct {
	problems []problem
	present  map[string]bool // keys that a file has, by path
	isRun    bool            // decode for a run, without a loop's limits
}

type pathNode struct {
	node
	path string
}

func joinPath(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func (d *decoder) field(s pathNode, key string) pathNode {
	value, found := memberOf(s.node, key)
	path := joinPath(s.path, key)
	if found && d.present != nil {
		d.present[path] = true
	}
	return pathNode{node: value, path: path}
}

// checkObject does not report a missing key if a mistyped one was meant.
func (d *decoder) checkObject(s pathNode, known []string, required ...string) {
	if s.Kind == jsontree.None {
		return
	}
	if s.Kind != jsontree.Object {
		d.report(s, "found %s, want an object", s.node)
		return
	}
	meant := d.checkKeys(s, known)
	for _, key := range required {
		if _, found := memberOf(s.node, key); !found && !meant[key] {
			d.report(pathNode{node: s.node, path: joinPath(s.path, key)}, "missing")
		}
	}
}

// checkKeys reports unknown and repeated keys, and returns the keys that were probably meant.
func (d *decoder) checkKeys(s pathNode, known []string) map[string]bool {
	meant, seen := map[string]bool{}, map[string]bool{}
	for _, m := range s.Members {
		here := pathNode{node: node{File: m.Value.File, Line: m.Line}, path: joinPath(s.path, m.Key)}
		near, isNear := jsontree.Nearest(m.Key, known)
		switch {
		case seen[m.Key]:
			d.report(here, "given twice, want one")
		case slices.Contains(known, m.Key):
		case isNear:
			meant[near] = true
			d.report(here, "unknown key, did you mean %q?", near)
		default:
			d.report(here, "unknown key, want %s", oneOfWords(known))
		}
		seen[m.Key] = true
	}
	return meant
}

func oneOfWords(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

type problem struct {
	file         string
	line, column int // 0 if unknown; keys have no column
	path, text   string
}

func (p problem) String() string {
	parts := []string{p.place(), jsontree.Clip(p.path, jsontree.MaxFound), mask(p.text)}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	line := strings.ReplaceAll(strings.Join(parts, ": "), "\t", `\t`)
	return strings.Join(strings.FieldsFunc(line, unicode.IsControl), " ")
}

func (p problem) place() string {
	switch {
	case p.line == 0:
		return p.file
	case p.column == 0:
		return fmt.Sprintf("%s:%d", p.file, p.line)
	default:
		return fmt.Sprintf("%s:%d:%d", p.file, p.line, p.column)
	}
}

func (d *decoder) report(s pathNode, format string, args ...any) {
	d.problems = append(d.problems, problem{file: s.File, line: s.Line, path: s.path, text: fmt.Sprintf(format, args...)})
}

const maxProblems = 100

func (d *decoder) fault() error {
	if len(d.problems) == 0 {
		return nil
	}
	var files, lines []string
	for _, p := range d.problems {
		if !slices.Contains(files, p.file) {
			files = append(files, p.file)
		}
	}
	slices.SortStableFunc(d.problems, func(a, b problem) int {
		if a.file != b.file {
			return slices.Index(files, a.file) - slices.Index(files, b.file)
		}
		return a.line - b.line
	})
	for _, p := range d.problems[:min(len(d.problems), maxProblems)] {
		lines = append(lines, p.String())
	}
	if more := len(d.problems) - maxProblems; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	if len(lines) > 1 {
		lines = slices.Insert(lines, 0, fmt.Sprintf("%s cannot be used: %d problems", strings.Join(files, " and "), len(d.problems)))
	}
	return fault.Usage(strings.Join(lines, "\n"), "fix "+strings.Join(files, " and ")+"; remove a key to get its default", nil)
}
