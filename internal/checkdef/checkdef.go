// Package checkdef tells which of a project's own files say what its checks
// do, and what of them: the scripts that a check's command names, the recipe of
// a make target, scripts of a package.json, sections of a runner's settings. An
// agent that may change them measures its work by a rule of its own. It opens no
// file, runs nothing, and does not say who meant what. Tests are none of it:
// they are the work's.
package checkdef

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"
)

// Files gives the text of a file at a slash path; nil: it is not there.
type Files func(name string) []byte

// Piece is a file that defines the checks, and is to be as the base has it.
type Piece struct {
	Path string
	Text []byte // the file's new content; nil: the whole file is to be as the base has it.
}

// Commands are those of the checks, and those that make a folder ready for them.
type Commands struct {
	Within  string // the folder that they are run in
	Checks  []string
	Setup   []string
	Touched []string // the files that the change touches: what has no name before it comes is one of them.
}

// Paths are the files that the commands are led by.
func Paths(commands Commands, base Files) []string {
	return slices.Sorted(maps.Keys(follow(commands, base)))
}

// Changed are the files that define the checks otherwise now, new ones included.
func Changed(commands Commands, base, now Files) []Piece {
	var pieces []Piece
	led := follow(commands, base)
	for _, name := range slices.Sorted(maps.Keys(led)) {
		is := now(name)
		if led[name].fresh && is == nil {
			continue
		}
		was := base(name)
		if led[name].fresh && was != nil {
			continue
		}
		if bytes.Equal(was, is) && (was == nil) == (is == nil) {
			continue
		}
		if piece, differs := led[name].hold(name, was, is); differs {
			pieces = append(pieces, piece)
		}
	}
	return pieces
}

// grasp is what of a file defines the checks: parts of it by their names, or all.
type grasp struct {
	whole bool
	fresh bool // only where the base has none
	of    kind
	parts []string
}

// kind is how a file is made up of parts.
type kind int

const (
	plain    kind = iota
	targets       // a Makefile or a justfile
	members       // a package.json, by "scripts.NAME" or a key of its top
	sections      // an ini or toml file
	keys          // an .npmrc
	hooks         // a conftest.py that comes, as far as it hooks into the runner
	lines         // what a Makefile reads besides
)

// hold is what has to be put back of a file. Only parts of one that also says what the
// product depends on are: of all others the whole file.
func (g grasp) hold(name string, was, now []byte) (Piece, bool) {
	whole := Piece{Path: name}
	switch {
	case g.of == hooks && !g.whole:
		return whole, was == nil && hooking.MatchString(string(now))
	case g.of == lines && !g.whole:
		return whole, bears(was, now, g.parts)
	case g.whole, now == nil, was == nil && g.of != sections && g.of != keys:
		return whole, true
	case g.of == targets:
		return whole, otherTargets(was, now, g.parts)
	case g.of == keys:
		return whole, !slices.Equal(keyLines(was, g.parts), keyLines(now, g.parts))
	}
	text := holdSections(was, now, g.parts)
	if g.of == members {
		text = holdMembers(was, now, g.parts)
	}
	return Piece{name, text}, text == nil || !bytes.Equal(text, now)
}

// trail is a chain of commands that is being followed.
type trail struct {
	base  Files
	led   map[string]grasp
	todo  []errand
	seen  map[errand]bool
	calls int

	touched []string
	loops   map[string][]string // what the variables of a script's loops stand for
}

// errand is a shell's text, and the folder that it is run in.
type errand struct {
	text, dir string
	ready     bool // it makes the folder ready
}

// What is followed is bounded: a chain is short.
const (
	mostErrands = 200
	mostCalls   = 2000
	mostText    = 256 << 10
)

func follow(commands Commands, base Files) map[string]grasp {
	t := &trail{base: base, led: map[string]grasp{}, seen: map[errand]bool{}, touched: commands.Touched, loops: map[string][]string{}}
	for _, command := range commands.Checks {
		t.add(errand{text: command, dir: commands.Within})
	}
	for _, command := range commands.Setup {
		t.add(errand{command, commands.Within, true})
	}
	for n := 0; n < len(t.todo) && n < mostErrands; n++ {
		t.sought(t.todo[n])
		for _, call := range calls(t.todo[n].text) {
			if t.calls++; t.calls < mostCalls {
				t.call(call, t.todo[n])
			}
		}
	}
	return t.led
}

func (t *trail) add(e errand) {
	if len(e.text) < mostText && !t.seen[e] {
		t.seen[e] = true
		t.todo = append(t.todo, e)
	}
}

func (t *trail) all(name string) { t.led[name] = grasp{whole: true} }

// some takes hold of parts of a file.
func (t *trail) some(name string, of kind, parts ...string) {
	g := t.led[name]
	if g.whole {
		return
	}
	g.of = of
	for _, part := range parts {
		if !slices.Contains(g.parts, part) {
			g.parts = append(g.parts, part)
		}
	}
	t.led[name] = g
}

// atFolder is a path seen from a folder of the repository; empty where it leads out.
func atFolder(dir, name string) string {
	name = path.Join(dir, name)
	if path.IsAbs(name) || name == ".." || strings.HasPrefix(name, "../") {
		return ""
	}
	return name
}

func (t *trail) call(words []string, in errand) {
	t.preloads(words, in)
	t.looped(words, in)
	words = bare(words)
	if len(words) == 0 {
		return
	}
	t.script(words, in)
	for _, word := range words[:min(len(words), 4)] { // behind npx, uv run, poetry run
		t.settings(path.Base(word), in.dir)
		t.shaded(path.Base(word), in.dir)
	}
	switch tool := path.Base(words[0]); tool {
	case "make", "gmake", "just":
		t.build(orderOf(tool, words[1:], in))
	case "npm", "pnpm", "yarn", "bun":
		t.node(words[1:], in)
	case "go":
		t.goRun(words[1:], in)
	}
}
