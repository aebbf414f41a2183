package guard

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

type call struct {
	scope      *scope
	stdin      string // what it reads
	outputFile string // the file that it prints into
	env        string // the variables set for it alone
	name       string // without its folder
	args       []string
}

func (c *call) String() string { return strings.TrimSpace(c.name + " " + strings.Join(c.args, " ")) }

// has reports whether a flag was given; a single letter can be within others.
func (c *call) has(flag string) bool {
	return slices.ContainsFunc(c.args, func(a string) bool {
		return matchesAny(flag, a) || strings.HasPrefix(a, flag+"=") || len(flag) == 2 && shortFlagIndex(a, flag[1]) > 0
	})
}

// shortFlagIndex returns the index of a letter among flags like -xzf, or 0.
func shortFlagIndex(a string, letter byte) int {
	if len(a) < 2 || a[0] != '-' || a[1] == '-' {
		return 0
	}
	for i := 1; i < len(a) && a[i] >= 'A' && a[i] <= 'z'; i++ {
		if a[i] == letter {
			return i
		}
	}
	return 0
}

// operands skips flags, and the values of the flags in valued.
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

func (c *call) first() string { return append(c.operands(), "")[0] }

func (c *call) affected() []string {
	ops := c.operands()
	if isInList("cp mv ln install scp rsync", c.name) {
		ops = ops[:max(0, len(ops)-1)]
	}
	return ops
}

func (c *call) values(flags ...string) []string {
	var found []string
	for i, a := range c.args {
		for _, flag := range flags {
			at := 0
			if len(flag) == 2 {
				at = shortFlagIndex(a, flag[1])
			}
			switch {
			case a == flag || at > 0 && at == len(a)-1:
				found = append(found, c.args[min(i+1, len(c.args)):min(i+2, len(c.args))]...)
			case at > 0:
				found = append(found, strings.TrimPrefix(a[at+1:], "="))
			case strings.HasPrefix(a, flag+"="):
				found = append(found, a[len(flag)+1:])
			}
		}
	}
	return found
}

func (j *judge) words(words []string, c call) string {
	defer func() { j.depth-- }()
	if !j.begin() || len(words) == 0 {
		return ""
	}
	c.name, c.args = programName(words[0]), words[1:]
	if strings.Contains(words[0], markStart) {
		j.reportOrigin(words[0], "a command")
		return ""
	}
	if _, ok := j.files[j.fileKey(words[0], c.scope)]; ok && strings.Contains(words[0], "/") {
		return j.scriptFile(&c, words)
	}
	out, done := j.unwrap(&c)
	if done {
		return out
	}
	j.checkRules(&c)
	j.applyBuiltin(&c)
	for _, f := range c.writtenFiles() {
		j.checkWrite(f, c.scope)
	}
	j.interpreter(&c)
	return joinOutput(out, j.outputOf(&c))
}

// programName returns a command's name without its folder and version: wrangler@latest.
func programName(word string) string {
	name, _, _ := strings.Cut(strings.TrimSuffix(path.Base(word), ".exe"), "@")
	return name
}

func (j *judge) applyBuiltin(c *call) {
	ops := append(c.operands(), "", "")
	switch c.name {
	case "cd", "pushd", "popd":
		if c.scope.dir != "" { // on another machine it stays unknown
			c.scope.dir = j.resolve(cmp.Or(ops[0], "~"), c.scope)
			c.scope.vars["PWD"] = cmp.Or(c.scope.dir, markStart+"PWD"+markEnd)
		}
	case "git":
		j.stashed = j.stashed || ops[0] == "stash" && (ops[1] == "" || ops[1] == "push" || ops[1] == "save")
	}
}

func (c *call) writtenFiles() []string {
	files, ops := c.values("-o", "-O", "--output", "--output-document"), c.operands()
	edits := isInList("sed gsed perl yq", c.name) && (c.has("-i") || c.has("--in-place*"))
	if edits || isInList("tee touch sponge truncate ed ex chattr chown chgrp mv rm rmdir unlink shred trash", c.name) {
		files = append(files, ops...)
	}
	if isInList("cp mv install ln rsync scp", c.name) && len(ops) > 1 {
		files = append(files, ops[len(ops)-1])
	}
	for _, o := range ops {
		if of, ok := strings.CutPrefix(o, "of="); ok { // dd
			files = append(files, of)
		}
	}
	return slices.DeleteFunc(files, func(f string) bool { return strings.Contains(f, ":") })
}
