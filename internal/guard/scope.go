package guard

import (
	"maps"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// What cannot be known stands between these two, with the variable's name if
// it has one: $DIR/x becomes <DIR>/x.
const (
	dark    = "\uE000"
	darkEnd = "\uE001"
	nothing = dark + darkEnd
)

// A value longer than this is not carried on: doubling must not fill memory.
const maxValue = 2048

// scope is what a shell remembers from one command to the next. A subshell
// gets a copy.
type scope struct {
	dir     string // "" when it is unknown
	vars    map[string]expand.Variable
	funcs   map[string]*syntax.Stmt
	aliases map[string]string
	origins map[string]stream // of variables that hold what came from afar
	args    []string          // $1 …
	argsSet bool
	depth   int
	// container: this runs in a container, where only databases and clouds
	// can still come to harm.
	container bool
	// far: on another machine, where the project is not.
	far bool
	// loads: what is printed goes into variables.
	loads bool
	// word: what is printed becomes part of a command.
	word bool
}

func newScope(dir string) *scope {
	return &scope{
		dir:     dir,
		vars:    map[string]expand.Variable{},
		funcs:   map[string]*syntax.Stmt{},
		aliases: map[string]string{},
		origins: map[string]stream{},
	}
}

func (s *scope) sub() *scope {
	c := *s
	c.vars, c.funcs, c.aliases, c.origins = maps.Clone(s.vars), maps.Clone(s.funcs), maps.Clone(s.aliases), maps.Clone(s.origins)
	return &c
}

func (s *scope) set(name, value string) {
	if len(value) > maxValue {
		value = dark + name + darkEnd
	}
	s.vars[name] = expand.Variable{Set: true, Kind: expand.String, Str: value}
}

func text(s string) expand.Variable {
	return expand.Variable{Set: true, Kind: expand.String, Str: s}
}

// env shows a scope to the expander.
type env struct {
	*scope
	j         *judge
	defaulted map[string]bool // names that the word has a default for
}

// Each implements expand.Environ; nothing here is enumerated.
func (e env) Each(func(string, expand.Variable) bool) {}

// Get implements expand.Environ.
func (e env) Get(name string) expand.Variable {
	v := e.get(name)
	e.j.spent += len(v.Str)
	if e.j.spent > maxSpent {
		return text(nothing)
	}
	return v
}

func (e env) get(name string) expand.Variable {
	if v, ok := e.vars[name]; ok {
		return v
	}
	if somebody, ok := strings.CutPrefix(name, "HOME "); ok { // ~somebody
		return text("/home/" + somebody)
	}
	switch name {
	case "IFS":
		return expand.Variable{}
	case "HOME":
		return text(e.j.place.Home)
	case "PWD":
		return text(dirOr(e.dir))
	case "SHELL", "BASH", "0":
		return text("bash")
	case "UID", "EUID":
		return text("1000")
	case "TMPDIR":
		return text("/tmp")
	case "CLAUDE_PROJECT_DIR", "GITHUB_WORKSPACE":
		return text(e.j.place.Root)
	}
	if e.argsSet {
		if v, ok := e.positional(name); ok {
			return v
		}
	}
	if e.defaulted[name] {
		return expand.Variable{}
	}
	return text(dark + name + darkEnd)
}

func (e env) positional(name string) (expand.Variable, bool) {
	switch {
	case name == "@" || name == "*":
		return expand.Variable{Set: true, Kind: expand.Indexed, List: e.args}, true
	case len(name) == 1 && name[0] >= '1' && name[0] <= '9':
		if n := int(name[0] - '1'); n < len(e.args) {
			return text(e.args[n]), true
		}
		return expand.Variable{}, true
	}
	return expand.Variable{}, false
}

func dirOr(dir string) string {
	if dir == "" {
		return dark + "PWD" + darkEnd
	}
	return dir
}

// shown is a text as the agent knows it: what is unknown by its variable.
func shown(s string) string {
	s = strings.NewReplacer(nothing, "…", dark, "$", darkEnd, "").Replace(s)
	s = strings.Join(strings.Fields(s), " ")
	if cut := []rune(s); len(cut) > 80 {
		s = string(cut[:77]) + "…"
	}
	return s
}
