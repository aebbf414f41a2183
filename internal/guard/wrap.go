package guard

import (
	"slices"
	"strings"
)

// wrapper is a command that runs another one: how many words of its own it
// takes first, and which of its options have a value.
type wrapper struct {
	operands int
	valued   string
	assigns  bool // A=b may stand before the command
}

var wrappers = map[string]wrapper{
	"nohup": {}, "setsid": {}, "builtin": {}, "unbuffer": {}, "chronic": {}, "busybox": {}, "toybox": {},
	"exec": {valued: "a"}, "time": {valued: "of"}, "nice": {valued: "n"}, "ionice": {valued: "cnp"},
	"stdbuf": {valued: "ioe"}, "timeout": {operands: 1, valued: "ks"}, "gtimeout": {operands: 1, valued: "ks"},
	"env": {valued: "uC", assigns: true}, "caffeinate": {valued: "tw"}, "watch": {valued: "n"},
	"sudo": {valued: "ughpCrtTUD", assigns: true}, "doas": {valued: "uC"}, "gosu": {operands: 1},
	"chrt": {operands: 1}, "taskset": {operands: 1}, "parallel": {valued: "jSa"}, "xvfb-run": {valued: "ans"},
	"npx": {valued: "p"}, "bunx": {}, "entr": {}, "noglob": {}, "nocorrect": {}, "xargs": {valued: "IdEnPLsa"},
	"command": {}, "flock": {operands: 1, valued: "w"}, "firejail": {}, "proxychains": {}, "strace": {valued: "oepPsuE"},
	"ltrace": {valued: "oepPsuE"}, "runuser": {valued: "ugG"},
}

// unwrap looks at the command inside a command.
func (j *judge) unwrap(c *call) (stream, bool) {
	switch c.name {
	case "su":
		j.becomes(c)
		return stream{}, true
	case "find":
		j.findRuns(c)
	case "ssh":
		j.overSSH(c)
	case "docker", "podman", "kubectl", "docker-compose", "nerdctl":
		j.inContainer(c)
	case "uv", "poetry", "pipenv", "bundle", "npm", "pnpm", "yarn", "bun", "rtk", "mise":
		if c.runsOther() {
			return j.run(c.args[1:], c.ran), true
		}
	default:
		if w, ok := wrappers[c.name]; ok && (c.name != "command" || !c.has("vV", "")) {
			return j.wrapped(w, c)
		}
	}
	return stream{}, false
}

// runsOther: a package manager that runs a program, not a script of the
// project.
func (c *call) runsOther() bool {
	if len(c.args) < 2 {
		return false
	}
	switch c.args[0] {
	case "exec", "x", "dlx":
		return true
	case "run":
		return c.name == "uv" || c.name == "poetry" || c.name == "pipenv"
	}
	return false
}

func (j *judge) wrapped(w wrapper, c *call) (stream, bool) {
	inner, env := w.inner(c.args)
	if c.name == "env" {
		for _, script := range c.values("-S", "--split-string") {
			inner = append(strings.Fields(script), inner...)
		}
	}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		j.variable(name, value, false)
	}
	r := c.ran
	if c.name == "xargs" || c.name == "parallel" {
		inner = j.fed(inner, c)
		r.in = stream{}
		r.fed = true
	}
	if len(inner) == 0 && c.name == "env" {
		return stream{}, false // it shows the environment
	}
	out := j.run(inner, r)
	j.rights(c)
	j.attaches(c)
	return out, true
}

// inner is what is left after the wrapper's own words.
func (w wrapper) inner(args []string) (inner, env []string) {
	left := w.operands
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return args[i+1:], env
		case strings.HasPrefix(a, "--"):
		case len(a) > 1 && a[0] == '-':
			if len(a) == 2 && strings.Contains(w.valued, a[1:]) {
				i++
			}
		case w.assigns && assignment(a):
			env = append(env, a)
		case left > 0:
			left--
		default:
			return args[i:], env
		}
	}
	return nil, env
}

func assignment(a string) bool {
	name, _, ok := strings.Cut(a, "=")
	return ok && name != "" && !strings.ContainsAny(name, "/ .-")
}

// fed is the command that xargs makes: with what came in, if it is known.
func (j *judge) fed(inner []string, c *call) []string {
	if len(inner) == 0 {
		inner = []string{"echo"}
	}
	items := []string{nothing}
	switch {
	case c.in.known:
		items = strings.Fields(c.in.text)
	case c.in.all != "":
		items = []string{strings.TrimSuffix(c.in.all, "/*") + "/*"}
		if commandName(inner[0]) == "rm" { // all the files are the folder
			items = append(items, "-r")
		}
	case c.in.ids:
		items = []string{everything}
	}
	for _, mark := range append(c.values("-I"), "{}") {
		if i := slices.Index(inner, mark); i > 0 {
			return slices.Concat(inner[:i], items, inner[i+1:])
		}
	}
	return slices.Concat(inner, items)
}

// everything stands for the ids of all there is.
const everything = dark + "all of them" + darkEnd

// overSSH judges what is run on another machine: its system counts, this
// project does not.
func (j *judge) overSSH(c *call) {
	ops := c.operands("-i", "-p", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-E", "-m", "-W")
	if len(ops) < 2 {
		return
	}
	far := c.scope.sub()
	far.dir = ""
	far.depth++
	far.far = true
	j.script(strings.Join(ops[1:], " "), far, stream{})
}

// inContainer judges what is run in a container.
func (j *judge) inContainer(c *call) {
	i := slices.IndexFunc(c.args, func(a string) bool { return a == "exec" || a == "run" })
	if i < 0 {
		return
	}
	inner := c.scope.sub()
	inner.container = true
	inner.depth++
	rest := c.args[i+1:]
	for k, a := range rest {
		switch commandName(a) {
		case "sh", "bash", "psql", "mysql", "mariadb", "mongosh", "mongo", "redis-cli", "dropdb", "sqlite3":
			j.run(rest[k:], ran{scope: inner, in: c.in})
			return
		}
	}
}
