package guard

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

func isShell(name string) bool {
	return slices.Contains([]string{"sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "rbash"}, name)
}

// builtin follows what changes the shell itself.
func (j *judge) builtin(c *call) {
	sc := c.scope
	switch c.name {
	case "cd", "pushd", "chdir":
		sc.dir = j.moved(c)
	case "popd":
		sc.dir = ""
	case "set":
		if i := slices.Index(c.args, "--"); i >= 0 {
			sc.args, sc.argsSet = c.args[i+1:], true
		}
		if slices.Equal(c.args, []string{"+o", "history"}) {
			j.report(EnvironmentTamper, c.String())
		}
	case "shift":
		sc.args = sc.args[min(1, len(sc.args)):]
	case "read", "mapfile", "readarray":
		c.reads()
	case "unset":
		for _, name := range c.operands() {
			j.variable(name, "", true)
			sc.set(name, "")
		}
	case "alias":
		j.alias(c)
	case "history":
		if c.has("c", "") {
			j.report(EnvironmentTamper, c.String())
		}
	case "trap":
		if len(c.args) > 1 && c.args[0] != "-" {
			j.script(c.args[0], sc.sub(), stream{})
		}
	case "printf":
		if len(c.args) > 2 && c.args[0] == "-v" {
			sc.set(c.args[1], formatted(c.args[2:]))
		}
	}
}

// reads gives variables what comes in, where that is known.
func (c *call) reads() {
	for _, name := range c.operands("-p", "-d", "-t", "-n", "-u", "-a") {
		delete(c.scope.vars, name)
		if c.in.known && c.name == "read" {
			line, _, _ := strings.Cut(c.in.text, "\n")
			c.scope.set(name, line)
		}
	}
}

func (j *judge) moved(c *call) string {
	ops := c.operands()
	if c.scope.far || c.scope.container {
		return ""
	}
	if len(ops) == 0 {
		return j.place.Home
	}
	if ops[0] == "-" {
		return ""
	}
	dir := j.resolve(ops[0], c.scope)
	if strings.Contains(ops[0], dark) && !isTemporary(dir) {
		return ""
	}
	return dir
}

func (j *judge) alias(c *call) {
	for _, a := range c.args {
		name, body, ok := strings.Cut(a, "=")
		if !ok {
			continue
		}
		if name == "sudo" || name == "su" || name == "ssh" {
			j.report(EnvironmentTamper, "alias "+a)
		}
		if words := strings.Fields(body); len(words) > 0 && words[0] != name {
			c.scope.aliases[name] = body
		}
	}
}

// shells judges scripts in scripts: sh -c, eval, source, and what comes into a
// shell through a pipe.
func (j *judge) shells(c *call) {
	switch {
	case c.name == "eval":
		j.script(strings.Join(c.args, " "), c.scope, c.in)
		j.origin(c.subs, "eval")
	case c.name == "source" || c.name == ".":
		j.sourced(c)
	case isShell(c.name):
		j.shell(c)
	case c.name == "awk" || c.name == "gawk":
		for _, m := range awkRuns.FindAllStringSubmatch(strings.Join(c.args, " "), 10) {
			j.script(m[1], c.scope.sub(), stream{})
		}
	case (c.name == "pwsh" || c.name == "powershell") && fetchAndRun.MatchString(strings.Join(c.args, " ")):
		j.report(SupplyChain, c.String())
	case strings.Contains(c.word, "/") && j.fetched[j.resolve(c.word, c.scope)]:
		j.report(SupplyChain, "running "+c.name+" as it came from the network")
	}
}

var (
	awkRuns     = pattern.Of(`system\(\s*"([^"]*)"`)
	fetchAndRun = pattern.Of(`(?i)\b(?:iex|invoke-expression)\b.*\b(?:iwr|irm|invoke-webrequest|downloadstring|net\.webclient)\b|\b(?:iwr|irm|invoke-webrequest|downloadstring)\b.*\|\s*iex\b`)
)

// origin judges code by where it came from, once its text has been.
func (j *judge) origin(s stream, by string) {
	switch {
	case s.fetched:
		j.report(SupplyChain, "running what comes from the network ("+by+")")
	case s.decoded:
		j.report(ObfuscatedExecution, "running what was decoded ("+by+")")
	}
}

func (j *judge) sourced(c *call) {
	if len(c.args) == 0 {
		return
	}
	file := c.args[0]
	if file == "/dev/fd/63" {
		j.origin(c.subs, c.name)
	}
	if file == "/dev/stdin" {
		j.fromInput(c)
	}
	if j.fetched[j.resolve(file, c.scope)] {
		j.report(SupplyChain, "running "+file+" as it came from the network")
	}
}

// shell judges sh with its script: given, in a file, or coming in.
func (j *judge) shell(c *call) {
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		option := len(a) > 1 && a[0] == '-' && a[1] != '-'
		switch {
		case a == "-o" || a == "+o" || a == "-O" || a == "--rcfile" || a == "--init-file":
			i++
		case option && strings.Contains(a, "c"):
			if i+1 < len(c.args) {
				j.given(c, c.args[i+1], c.args[i+2:])
			}
			return
		case option && strings.Contains(a, "n"):
			return // only read, not run
		case option && strings.Contains(a, "s"), a == "-", a == "/dev/stdin":
			j.fromInput(c)
			return
		case a != "" && a[0] != '-' && a[0] != '+':
			j.sourced(&call{ran: c.ran, name: c.name, args: c.args[i:]})
			return
		}
	}
	j.fromInput(c)
}

func (j *judge) given(c *call, script string, args []string) {
	inner := c.scope.sub()
	if len(args) > 1 {
		inner.args, inner.argsSet = args[1:], true
	} else if !c.fed {
		inner.args, inner.argsSet = nil, false
	}
	j.script(script, inner, c.in)
	j.origin(c.subs, c.name+" -c")
}

// fromInput judges a shell that reads its script from a pipe or a document.
func (j *judge) fromInput(c *call) {
	if c.inFile != "" && j.fetched[j.resolve(c.inFile, c.scope)] {
		j.report(SupplyChain, "running "+c.inFile+" as it came from the network")
	}
	if c.in.known {
		j.script(c.in.text, c.scope.sub(), stream{})
	}
	j.origin(c.in, c.name)
}

// assembled judges a command whose very name was decoded or fetched.
func (j *judge) assembled(c *call) bool {
	before := j.found
	j.rules(c)
	if j.found == before {
		j.origin(c.subs, c.String())
	}
	return j.found != before
}
