package guard

import (
	"slices"
	"strings"
)

// files judges what deletes, overwrites or moves away.
func (j *judge) files(c *call) {
	for _, target := range c.written() {
		j.writes(target, c.scope)
	}
	switch c.name {
	case "rm", "rmdir", "unlink", "trash", "rimraf", "del-cli", "srm":
		j.removes(c)
	case "find":
		j.finds(c)
	case "fd", "fdfind":
		j.fdRemoves(c)
	case "shred", "wipe":
		j.shreds(c)
	case "truncate":
		for _, f := range c.written() {
			j.truncates(f, c.scope)
		}
	case "mv":
		j.moves(c)
	case "rsync":
		j.mirrors(c)
	case "tar", "unzip":
		j.unpacks(c)
	}
}

func (j *judge) fdRemoves(c *call) {
	if !c.has("xX", "--exec", "--exec-batch") || !slices.Contains(c.args, "rm") {
		return
	}
	for _, dir := range tail(c.operands("-e", "-t"), true) {
		j.removal(dir, c.scope, true)
	}
}

func (j *judge) shreds(c *call) {
	for _, f := range c.operands("-n", "-s") {
		if a := j.where(j.resolve(f, c.scope)); a != inside && a != temporary && a != somewhere {
			j.report(FileDestruction, c.String())
		}
	}
}

// mirrors judges rsync --delete: what is not at the source goes.
func (j *judge) mirrors(c *call) {
	deletes := slices.ContainsFunc(c.args, func(a string) bool { return strings.HasPrefix(a, "--del") })
	ops := c.operands()
	if deletes && len(ops) > 1 && !strings.Contains(ops[len(ops)-1], ":") {
		j.removal(ops[len(ops)-1], c.scope, true)
	}
}

func (j *judge) unpacks(c *call) {
	if !c.has("xd", "--extract") {
		return
	}
	for _, dir := range c.values("-C", "-d", "--directory") {
		p := j.resolve(dir, c.scope)
		if a := j.where(p); a == root || a == system && j.writing(p) != "" {
			j.report(ProtectedPath, "unpacking into "+dir)
		}
	}
}

func (j *judge) removes(c *call) {
	tree := c.has("rR", "--recursive") || c.name == "rimraf" || c.name == "trash"
	for _, target := range c.operands() {
		j.removal(target, c.scope, tree)
	}
	if c.has("", "--no-preserve-root") {
		j.report(FileDestruction, c.String())
	}
}

func (j *judge) removal(target string, sc *scope, tree bool) {
	if cat, why := j.deletes(target, sc, tree); cat != "" {
		j.report(cat, why)
	}
}

func (j *judge) moves(c *call) {
	ops := c.operands("-S", "-t")
	if len(ops) == 0 {
		return
	}
	to := ops[len(ops)-1]
	for _, from := range ops[:len(ops)-1] {
		if to == "/dev/null" {
			j.report(FileDestruction, "moving "+from+" to /dev/null")
		}
		j.movesAway(from, c.scope)
	}
}

func (j *judge) movesAway(from string, sc *scope) {
	p := j.resolve(from, sc)
	a := j.where(p)
	switch {
	case a == root, a == home, a == project && !strings.HasSuffix(from, "*"):
		j.report(FileDestruction, "moving "+from+" away")
	case a == system:
		j.report(FileDestruction, "moving "+from+" of the system")
	case a == gitFolder:
		if strings.HasSuffix(strings.TrimSuffix(from, "/"), ".git") {
			j.report(GitDestruction, "moving "+from+" away")
		}
	default:
		if cat, ok := j.guarded(p); ok {
			j.report(cat, "moving "+from+" away")
		}
	}
}

// search is a find command taken apart.
type search struct {
	from    []string
	narrow  bool     // not everything is found
	deletes bool     // -delete
	runs    []string // after -exec
	names   []string
}

var narrowing = []string{
	"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-mtime", "-mmin", "-atime", "-ctime", "-newer",
	"-size", "-user", "-perm", "-inum", "-samefile", "-lname", "-cmin", "-newermt",
}

func parseFind(args []string) search {
	var s search
	for len(args) > 0 && (args[0] == "-L" || args[0] == "-H" || args[0] == "-P") {
		args = args[1:]
	}
	for len(args) > 0 && !strings.HasPrefix(args[0], "-") && args[0] != "!" && args[0] != "(" {
		s.from = append(s.from, args[0])
		args = args[1:]
	}
	if len(s.from) == 0 {
		s.from = []string{"."}
	}
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-delete":
			s.deletes = true
		case a == "-exec" || a == "-execdir" || a == "-ok":
			s.runs = until(args[i+1:], ";", "+")
			i += len(s.runs)
		case slices.Contains(narrowing, a) && i+1 < len(args):
			s.narrow = s.narrow || args[i+1] != "*"
			s.names = append(s.names, args[i+1])
		case a == "-empty":
			s.narrow = true
		}
	}
	return s
}

func until(args []string, ends ...string) []string {
	end := slices.IndexFunc(args, func(a string) bool { return slices.Contains(ends, a) })
	if end < 0 {
		end = len(args)
	}
	return args[:end]
}

// finds judges find -delete and find -exec rm.
func (j *judge) finds(c *call) {
	s := parseFind(c.args)
	j.hunts(c, s)
	removing := s.deletes || len(s.runs) > 0 && slices.Contains([]string{"rm", "shred", "unlink", "rmdir"}, commandName(s.runs[0]))
	if !removing {
		return
	}
	for _, from := range s.from {
		p := j.resolve(from, c.scope)
		a := j.where(p)
		if s.narrow && (a == project || a == inside || a == somewhere || a == temporary || derived.MatchString(p)) {
			if slices.Contains(s.names, ".git") {
				j.report(GitDestruction, c.String())
			}
			continue
		}
		j.removal(from, c.scope, true)
	}
}

// findRuns judges what -exec runs, on the folder itself when everything in it
// is found.
func (j *judge) findRuns(c *call) {
	s := parseFind(c.args)
	if len(s.runs) == 0 || commandName(s.runs[0]) == "rm" {
		return
	}
	words := slices.Clone(s.runs)
	for i, w := range words {
		if w == "{}" && !s.narrow {
			words[i] = s.from[0]
		} else if w == "{}" {
			words[i] = nothing
		}
	}
	r := c.ran
	r.fed = true
	j.run(words, r)
}
