package tamper

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// commandsOf finds the commands of a file that check something.
func commandsOf(name string, s sheet) []command {
	text, there := s.texts[name]
	if !there || len(text) > maxSettings {
		return nil
	}
	base := path.Base(name)
	settings := s.files[name]
	switch {
	case base == "package.json":
		return ofScripts(name, settings)
	case strings.HasPrefix(base, ".lintstagedrc"):
		return ofStages(name, settings)
	case has(name, pipeline) && !strings.HasPrefix(base, "Jenkinsfile"):
		return ofPipeline(name, settings)
	case base == "tox.ini" || base == "setup.cfg" || base == "pyproject.toml" || base == "pytest.ini" || base == ".pytest.ini":
		return ofPython(name, settings)
	case base == ".pre-commit-config.yaml" || base == ".pre-commit-config.yml":
		return ofHooks(name, settings)
	case strings.HasSuffix(base, ".yml") || strings.HasSuffix(base, ".yaml"):
		return ofPipeline(name, settings)
	case strings.HasPrefix(strings.ToLower(base), "makefile") || base == "GNUmakefile" || strings.HasSuffix(base, ".mk") || strings.EqualFold(base, "justfile"):
		return ofMake(name, text)
	case strings.HasSuffix(base, ".py"), strings.HasPrefix(base, "Jenkinsfile"):
		return ofProgram(name, text)
	case len(rolesOf(name)) > 0 && slices.Equal(rolesOf(name), []role{scripted}):
		return shell(name, base, text, 1)
	default:
		return nil
	}
}

// ofStages are the commands of lint-staged.
func ofStages(name string, settings []setting) []command {
	var all []command
	for _, s := range settings {
		all = append(all, shell(name, s.key, s.value, s.line)...)
	}
	return all
}

func ofScripts(name string, settings []setting) []command {
	var all []command
	for _, s := range settings {
		script, is := strings.CutPrefix(s.key, "scripts.")
		if is && checking.MatchString(script) {
			all = append(all, shell(name, script, strings.ReplaceAll(s.value, `\"`, `"`), s.line)...)
		}
		if strings.HasPrefix(s.key, "lint-staged.") || strings.HasPrefix(s.key, "husky.hooks.") {
			all = append(all, shell(name, s.key, s.value, s.line)...)
		}
	}
	return all
}

var commandKey = pattern.Of(`(^|\.)(run|script|before_script|after_script|command|commands?|cmds?|test|bash|sh|pwsh)(\[\w*\])?(\.command)?$|cmds\[[^\]]*\](\.cmd)?$|\.cmd$`)

func ofPipeline(name string, settings []setting) []command {
	var all []command
	for _, s := range settings {
		place, _, _ := strings.Cut(strings.TrimPrefix(s.key, "jobs."), ".")
		switch {
		case commandKey.MatchString(s.key):
			all = append(all, shell(name, place, s.value, s.line)...)
		case strings.HasSuffix(s.key, ".uses"):
			action, _, _ := strings.Cut(path.Base(s.value), "@")
			action = strings.TrimSuffix(action, "-action")
			if class, known := tools[action]; known {
				all = append(all, command{file: name, place: place, tool: action, class: class, line: s.line, text: s.value})
			}
		}
	}
	return all
}

func ofPython(name string, settings []setting) []command {
	var all []command
	for _, s := range settings {
		switch {
		case strings.HasSuffix(s.key, "addopts") || strings.HasSuffix(s.key, "addopts[]"):
			all = append(all, command{file: name, place: "addopts" + s.key, tool: "pytest", class: testing, args: strings.Fields(s.value), line: s.line, text: s.value})
		case strings.Contains(s.key, "commands") || strings.Contains(s.key, "scripts.") || strings.Contains(s.key, "tasks."):
			all = append(all, shell(name, s.key, s.value, s.line)...)
		}
	}
	return merge(all)
}

// merge makes one of the options that stand in a list.
func merge(all []command) []command {
	var out []command
	for _, c := range all {
		if n := len(out); n > 0 && strings.HasPrefix(c.place, "addopts") && out[n-1].place == c.place {
			out[n-1].args = append(out[n-1].args, c.args...)
			continue
		}
		out = append(out, c)
	}
	return out
}

// ofHooks are the hooks of pre-commit.
func ofHooks(name string, settings []setting) []command {
	var all []command
	for _, s := range settings {
		if strings.HasSuffix(s.key, ".id") && strings.Contains(s.key, "hooks[") {
			all = append(all, command{file: name, place: "hooks", tool: "hook " + s.value, class: linting, line: s.line, text: s.value})
		}
	}
	return all
}

var target = pattern.Of(`^([\w./%-]+(?: [\w./%-]+)*)\s*:(?:[^=]|$)(.*)`)

func ofMake(name, text string) []command {
	m := &makefile{name: name}
	for line := range strings.Lines(text) {
		m.line++
		if strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    ") {
			if m.block.Len() == 0 {
				m.begin = m.line
			}
			m.block.WriteString(strings.TrimLeft(line, " \t"))
			continue
		}
		m.target(line)
	}
	m.flush()
	return m.all
}

// makefile is one that is being read.
type makefile struct {
	name, place string
	line, begin int
	block       strings.Builder // the commands of the target
	all         []command
}

func (m *makefile) flush() {
	if m.place != "" && m.block.Len() > 0 {
		m.all = append(m.all, shell(m.name, m.place, m.block.String(), m.begin)...)
	}
	m.block.Reset()
}

// target begins with a line that may name one; what it needs counts as what it
// runs.
func (m *makefile) target(line string) {
	found := target.FindStringSubmatch(strings.TrimRight(line, "\n"))
	if found == nil || strings.HasPrefix(line, ".") {
		return
	}
	m.flush()
	m.place = found[1]
	deps, _, _ := strings.Cut(strings.TrimSpace(line[strings.Index(line, ":")+1:]), "#")
	for dep := range strings.FieldsSeq(deps) {
		if checking.MatchString(m.place) && checking.MatchString(dep) {
			m.all = append(m.all, command{file: m.name, place: m.place, tool: "make", class: gathering, args: []string{dep}, line: m.line, text: "make " + dep})
		}
	}
}

var calledText = pattern.Of(`(?s)(?:run|sh|system|check_call|check_output|Popen|call)\w*\s*\(?\s*(.{1,400}?)(?:\)|\n)`)

// ofProgram finds commands in a program: noxfile, tasks, Jenkinsfile.
func ofProgram(name, text string) []command {
	var all []command
	for _, m := range calledText.FindAllStringSubmatchIndex(text, 500) {
		inner := strings.NewReplacer(`"`, " ", `'`, " ", ",", " ", "[", " ", "]", " ").Replace(text[m[2]:m[3]])
		line := 1 + strings.Count(text[:m[0]], "\n")
		all = append(all, shell(name, base(name), strings.TrimSpace(inner), line)...)
	}
	return all
}

const maxCommands = 600

func base(name string) string { return path.Base(name) }

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
		if base(change.Path) == "package.json" && strings.Contains(string(change.Before), `"`+c.tool+`":`) && !strings.Contains(string(change.After), `"`+c.tool+`":`) {
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
