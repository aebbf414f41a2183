package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/plan"
)

// decoder makes values of nodes and keeps what is wrong with them, so that all
// of it is said at once.
type decoder struct {
	problems []problem
	set      map[string]bool     // keys that were read, by path
	homes    map[string][]string // the keys of the objects within, for those that stand in the wrong one
	apart    bool                // from a loop's bounds: a run's are others
}

// spot is a value and the path of keys to it.
type spot struct {
	node
	path string
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// field is what stands under a key, and notes that it was there.
func (d *decoder) field(s spot, key string) spot {
	value, found := s.member(key)
	path := join(s.path, key)
	if found && d.set != nil {
		d.set[path] = true
	}
	return spot{node: value, path: path}
}

// object complains of what is no object, of keys that nobody knows, and of
// those that are missing. A slip is one problem: the key that was meant is not
// missed as well.
func (d *decoder) object(s spot, known []string, required ...string) {
	if s.kind == kindNone {
		return
	}
	if s.kind != kindObject {
		d.complain(s, "found %s, want an object", s.node)
		return
	}
	meant := d.strangers(s, known)
	for _, key := range required {
		if _, found := s.member(key); !found && !meant[key] {
			d.complain(spot{node: s.node, path: join(s.path, key)}, "missing")
		}
	}
}

// strangers complains of keys that are unknown or there twice, and gives the
// ones that were probably meant.
func (d *decoder) strangers(s spot, known []string) map[string]bool {
	meant, seen := map[string]bool{}, map[string]bool{}
	for _, m := range s.members {
		here := spot{node: node{at: m.at}, path: join(s.path, m.key)}
		near, isNear := nearest(m.key, known)
		switch home := d.home(m.key); {
		case seen[m.key]:
			d.complain(here, "there twice, want one")
		case slices.Contains(known, m.key):
		case home != "":
			d.complain(here, "unknown key here, did you mean %q?", home+"."+m.key)
		case isNear:
			meant[near] = true
			d.complain(here, "unknown key, did you mean %q?", near)
		default:
			d.complain(here, "unknown key, want %s", oneOfWords(known))
		}
		seen[m.key] = true
	}
	return meant
}

// nearest is the known key that was probably meant: a slip of the fingers, or
// a word cut short, as maxIterations is.
func nearest(word string, known []string) (string, bool) {
	if near, ok := plan.Nearest(word, known); ok {
		return near, true
	}
	for _, k := range known {
		if cutShort(word, k) || cutShort(k, word) {
			return k, true
		}
	}
	return "", false
}

// cutShort says that the letters of short stand in long, in their order and from
// the first on.
func cutShort(short, long string) bool {
	short = strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(short))
	if len(short) < 3 || !strings.HasPrefix(strings.ToLower(long), short[:1]) {
		return false
	}
	for _, letter := range strings.ToLower(long) {
		short = strings.TrimPrefix(short, string(letter))
	}
	return short == ""
}

// home is the one object that has a key of that name.
func (d *decoder) home(key string) string {
	var found []string
	for home, keys := range d.homes {
		if slices.Contains(keys, key) {
			found = append(found, home)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// oneOfWords is "a", "a or b", "a, b or c".
func oneOfWords(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// problem is one thing that is wrong with a file, and where.
type problem struct {
	at         place
	path, text string
}

func (p problem) String() string {
	parts := []string{p.at.String(), clip(p.path), mask(p.text)}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	line := strings.ReplaceAll(strings.Join(parts, ": "), "\t", `\t`)
	return strings.Join(strings.FieldsFunc(line, unicode.IsControl), " ")
}

func (d *decoder) complain(s spot, format string, args ...any) {
	d.problems = append(d.problems, problem{at: s.at, path: s.path, text: fmt.Sprintf(format, args...)})
}

// maxProblems is far more than anybody mends at once.
const maxProblems = 100

// fault is all that is wrong, one problem a line, in the order of the files
// and their lines.
func (d *decoder) fault() error {
	if len(d.problems) == 0 {
		return nil
	}
	var files, lines []string
	for _, p := range d.problems {
		if !slices.Contains(files, p.at.file) {
			files = append(files, p.at.file)
		}
	}
	slices.SortStableFunc(d.problems, func(a, b problem) int {
		if a.at.file != b.at.file {
			return slices.Index(files, a.at.file) - slices.Index(files, b.at.file)
		}
		return a.at.line - b.at.line
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
	return fault.Usage(strings.Join(lines, "\n"), "mend "+strings.Join(files, " and ")+"; a key that is taken out has its default", nil)
}
