package tamper

import (
	"path"
	"slices"
	"strings"
)

const maxCommands = 600

// commands compares what is run to check.
func (r *report) commands(was, now sheet) {
	var before, after []command
	for _, c := range r.changes {
		before = append(before, commandsOf(c.Path, was)...)
		after = append(after, commandsOf(c.Path, now)...)
	}
	before, after = before[:min(len(before), maxCommands)], after[:min(len(after), maxCommands)]
	lost, fresh := r.paired(before, after)
	for _, c := range lost {
		if !replaced(c, fresh) && c.loose == "" && !r.given(c, after) {
			r.blame(c, command{}, "the command "+short(c.text, 80)+" of "+short(c.place, 40)+" is gone")
		}
	}
}

// samenesses are how a command may be known again, the surest first.
var samenesses = []func(a, b command) bool{
	func(a, b command) bool { return a.file == b.file && a.place == b.place && a.text == b.text },
	func(a, b command) bool { return a.file == b.file && a.text == b.text && a.loose == b.loose },
	func(a, b command) bool { return a.text == b.text && a.loose == b.loose },
	func(a, b command) bool {
		return a.file == b.file && a.place == b.place && a.kin(b) && weakened(a, b) == ""
	},
	func(a, b command) bool { return a.file == b.file && a.place == b.place && a.kin(b) },
	func(a, b command) bool { return a.file == b.file && a.kin(b) },
	command.kin,
}

// paired compares commands of the same tool, those of one place first.
func (r *report) paired(before, after []command) (lost, fresh []command) {
	lost, fresh = slices.Clone(before), slices.Clone(after)
	for _, same := range samenesses {
		var left []command
		for _, a := range lost {
			i := slices.IndexFunc(fresh, func(b command) bool { return same(a, b) })
			if i < 0 {
				left = append(left, a)
				continue
			}
			if why := weakened(a, fresh[i]); why != "" && (!strings.Contains(why, " look at ") && !strings.Contains(why, " looks at ") || !shared(a, before, after)) {
				r.blame(a, fresh[i], "the command "+short(fresh[i].text, 80)+" checks less: "+why)
			}
			fresh = slices.Delete(fresh, i, i+1)
		}
		lost = left
	}
	return lost, fresh
}

// shared tells whether several commands do now what one did.
func shared(was command, before, after []command) bool {
	count := func(all []command) int {
		n := 0
		for _, c := range all {
			if c.tool == was.tool && c.loose == "" {
				n++
			}
		}
		return n
	}
	return count(after) > count(before)
}

// kin tells whether two commands are of one tool, and of one target where it
// has several.
func (c command) kin(other command) bool {
	if c.tool != other.tool {
		return false
	}
	return c.tool != "make" && c.tool != "just" && c.tool != "task" && c.tool != "ruff" || len(c.args) > 0 && len(other.args) > 0 && c.args[0] == other.args[0]
}

// given tells whether a tool went out of the project altogether, and
// another does its work.
func (r *report) given(c command, after []command) bool {
	if !slices.ContainsFunc(after, func(a command) bool { return a.class == c.class && a.loose == "" }) || c.class == gathering {
		return false
	}
	for _, change := range r.changes {
		configures := strings.Contains(path.Base(change.Path), c.tool) && len(rolesOf(change.Path)) > 0
		if configures && change.After == nil {
			return true
		}
		if path.Base(change.Path) == "package.json" && strings.Contains(string(change.Before), `"`+c.tool+`":`) && !strings.Contains(string(change.After), `"`+c.tool+`":`) {
			return true
		}
	}
	return false
}

// replaced tells whether a command that is gone has a successor: one of its
// class, one that runs many, or for one that ran many, any.
func replaced(c command, fresh []command) bool {
	for _, f := range fresh {
		if f.loose == "" && (f.class == c.class || f.class == gathering || c.class == gathering) {
			return true
		}
	}
	return false
}

// blame adds a finding about a command.
func (r *report) blame(was, now command, why string) {
	kind := CheckChanged
	file := was.file
	if now.file != "" {
		file = now.file
	}
	if has(file, pipeline) {
		kind = CILoosened
	}
	if strings.Contains(why, "fail-under") || strings.Contains(why, "check-coverage") {
		kind = CoverageLowered
	}
	c := r.change(file)
	r.add(Finding{file, kind, c.differing(firstField(was.text), firstField(now.text)), why})
}

func firstField(text string) string {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return ""
	}
	return fields[0]
}
