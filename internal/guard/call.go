package guard

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// ran is how a command is run: in which shell, with what coming in, and what
// comes after it in the pipe.
type ran struct {
	scope   *scope
	in      stream
	subs    stream // what the substitutions in its words read
	next    [][]string
	env     map[string]string // set for this command alone
	inFile  string
	outFile string
	toFile  bool
	fed     bool // by xargs
}

// call is a command with its arguments.
type call struct {
	ran
	word string // as it was called
	name string // without its folder
	args []string
}

func (c *call) String() string { return strings.TrimSpace(c.name + " " + strings.Join(c.args, " ")) }

// has says whether an option was given: one of the short letters, alone or in a
// cluster, or one of the long names.
func (c *call) has(short string, long ...string) bool {
	for _, a := range c.args {
		if a == "--" {
			return false
		}
		name, _, _ := strings.Cut(a, "=")
		if len(a) > 1 && slices.Contains(long, name) {
			return true
		}
		if len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.ContainsAny(a[1:], short) && short != "" {
			return true
		}
	}
	return false
}

// operands are the arguments that are no options, nor the values of those
// named.
func (c *call) operands(valued ...string) []string {
	var ops []string
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		switch {
		case a == "--":
			return append(ops, c.args[i+1:]...)
		case slices.Contains(valued, a):
			i++
		case len(a) < 2 || a[0] != '-':
			ops = append(ops, a)
		}
	}
	return ops
}

// values are what was given to options: -o x, -ox, --output x, --output=x.
func (c *call) values(names ...string) []string {
	var found []string
	for i, a := range c.args {
		for _, name := range names {
			switch {
			case a == name && i+1 < len(c.args):
				found = append(found, c.args[i+1])
			case strings.HasPrefix(name, "--") && strings.HasPrefix(a, name+"="):
				found = append(found, a[len(name)+1:])
			case len(name) == 2 && len(a) > 2 && strings.HasPrefix(a, name):
				found = append(found, strings.TrimPrefix(a[2:], "="))
			}
		}
	}
	return found
}

// first is the first operand, usually a subcommand.
func (c *call) first() string {
	if ops := c.operands(); len(ops) > 0 {
		return ops[0]
	}
	return ""
}

// call judges a simple command of the source.
func (j *judge) call(c *syntax.CallExpr, r ran) stream {
	if len(c.Args) == 0 {
		r.subs = j.loading(c, r.scope)
		for _, a := range c.Assigns {
			j.assign(a, r.scope, true)
			if a.Name != nil && (r.subs.fetched || r.subs.decoded) && len(c.Assigns) == 1 {
				r.scope.origins[a.Name.Value] = r.subs
			}
		}
		return stream{}
	}
	if word := c.Args[0].Lit(); word == "env" {
		r.subs = j.loading(c, r.scope)
	} else {
		r.subs = j.within(c, r.scope)
	}
	for _, a := range c.Assigns {
		if r.env == nil {
			r.env = map[string]string{}
		}
		value := j.whole(r.scope, a.Value)
		r.env[a.Name.Value] = value
		j.variable(a.Name.Value, value, false)
	}
	words := j.fields(r.scope, c.Args...)
	j.showsSecret(c, words, r)
	r.subs = r.subs.also(j.originOf(c, r.scope))
	return j.run(words, r)
}

// loading judges substitutions whose output goes into variables and not to the
// agent's eyes: a .env file may be read there.
func (j *judge) loading(node syntax.Node, sc *scope) stream {
	quiet := sc.sub()
	quiet.loads = true
	return j.within(node, quiet)
}

// run judges a command by its words.
func (j *judge) run(words []string, r ran) stream {
	if len(words) == 0 || j.done() {
		return stream{}
	}
	if j.nest++; j.nest > maxNest {
		j.nest--
		return stream{}
	}
	defer func() { j.nest-- }()
	sc := r.scope
	if body, ok := sc.aliases[words[0]]; ok {
		inner := *sc
		inner.aliases = nil
		return j.run(append(strings.Fields(body), words[1:]...), r.inside(&inner))
	}
	if body, ok := sc.funcs[words[0]]; ok && sc.depth < maxDepth {
		inner := sc.sub()
		delete(inner.funcs, words[0])
		inner.args, inner.argsSet = words[1:], true
		inner.depth++
		return j.stmt(body, inner, r.in, r.next)
	}
	c := &call{ran: r, word: words[0], name: commandName(words[0]), args: words[1:]}
	if strings.Contains(c.name, dark) {
		j.origin(c.subs, "a command that is put together")
		return stream{}
	}
	if c.subs.decoded && strings.Contains(strings.Join(words, " "), c.name) && j.assembled(c) {
		return stream{}
	}
	if out, ok := j.unwrap(c); ok {
		return out
	}
	j.builtin(c)
	j.rules(c)
	return j.prints(c)
}

func (r ran) inside(sc *scope) ran {
	r.scope = sc
	return r
}

// rules go through the families. In a container only what reaches out of it
// counts.
func (j *judge) rules(c *call) {
	j.database(c)
	j.cloud(c)
	if c.scope.container {
		return
	}
	for _, family := range []func(*call){
		j.disk, j.exhaustion, j.remoteAccess, j.exfiltration, j.credentials, j.files,
		j.container, j.supply, j.git, j.system, j.process, j.rights, j.shells, j.code,
	} {
		if family(c); j.found != nil {
			return
		}
	}
}

// commandName is the program without its folder. A glob in it is taken for
// what it is most likely to match.
func commandName(word string) string {
	name := path.Base(word)
	if strings.ContainsAny(name, "?*[") {
		for _, n := range []string{"rm", "dd", "cat", "sh", "bash", "nc", "curl", "wget"} {
			if ok, err := path.Match(name, n); ok && err == nil {
				return n
			}
		}
	}
	if sub, ok := strings.CutPrefix(name, "git-"); ok && sub != "" {
		return name
	}
	return strings.TrimSuffix(name, ".exe")
}
