package checkdef

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// rule is a target with its recipe, or the lines between two rules, without a name.
type rule struct {
	names  []string
	needs  []string
	inline string   // the recipe after a semicolon
	lines  []string // of the recipe
}

var (
	ruleLine = pattern.Of(`^@?([A-Za-z0-9_./%$(){}-][^:=#\t]*?)\s*::?(?:[^=:]|$)`)
	// affectsAllRules matches lines outside of rules that can change any recipe.
	affectsAllRules = pattern.Of(`^\s*(override\s+|export\s+)*(SHELL|\.SHELLFLAGS|MAKEFLAGS|MFLAGS|GNUMAKEFLAGS)\b|^\s*(-?include|sinclude|define|ifeq|ifneq|ifdef|ifndef|else|endif|vpath)\b|^\.[A-OQ-Z]|^\s*set\s+\w|^\s*import\b|^\s*mod\b`)
	assigned        = pattern.Of(`^\s*(?:override\s+|export\s+)*([A-Za-z_][A-Za-z0-9_.-]*)\s*([:?+!]{0,3}=)\s*(.*)$`)
	usedVariable    = pattern.Of(`\$[({]([A-Za-z_][A-Za-z0-9_.-]*)[)}]|\{\{\s*([A-Za-z_]\w*)\s*\}\}`)
)

func rulesOf(text []byte) []rule {
	all := []rule{{}}
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " \x00")) {
		line = strings.ReplaceAll(line, " \x00", " ")
		last := &all[len(all)-1]
		switch found := ruleLine.FindStringSubmatch(line); {
		case len(last.names) > 0 && (line[0] == '\t' || line[0] == ' '), strings.TrimSpace(line) == "":
			last.lines = append(last.lines, line)
		case found != nil && !affectsAllRules.MatchString(line):
			_, needs, _ := strings.Cut(line, ":")
			needs, recipe, _ := strings.Cut(strings.TrimPrefix(needs, ":"), ";")
			needs, _, _ = strings.Cut(needs, "#")
			all = append(all, rule{names: strings.Fields(found[1]), needs: strings.Fields(needs), inline: recipe})
		default:
			all = append(all, rule{lines: []string{line}})
		}
	}
	return all
}

func (r rule) recipe() string {
	var text strings.Builder
	for _, line := range append([]string{r.inline}, r.lines...) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			text.WriteString(line + "\n")
		}
	}
	return text.String()
}

// makeCall is a call of make or just.
type makeCall struct {
	files   []string // make reads the first that exists
	targets []string
	from    shellText
}

func makeCallOf(tool string, args []string, in shellText) makeCall {
	o := makeCall{files: []string{"GNUmakefile", "makefile", "Makefile"}, from: in}
	if tool == "just" {
		o.files = []string{"justfile", "Justfile", ".justfile"}
	}
	for i := 0; i < len(args); i++ {
		value := args[min(i+1, len(args)-1)]
		switch args[i] {
		case "-C", "--directory":
			o.from.dir, i = inRepository(in.dir, value), i+1
		case "-f", "--file", "--makefile":
			o.files, i = []string{value}, i+1
		default:
			if !strings.HasPrefix(args[i], "-") && !strings.HasPrefix(args[i], "$") && !assignment.MatchString(args[i]) {
				o.targets = append(o.targets, args[i])
			}
		}
	}
	return o
}

// followMake follows the targets of a Makefile or justfile.
func (f *follower) followMake(o makeCall) {
	for _, name := range o.files {
		file := inRepository(o.from.dir, name)
		if text := f.base(file); text != nil && file != "" && len(text) < maxText {
			rules := rulesOf(text)
			files := f.includedFiles(rules, o.from.dir)
			for at, size := 0, len(text); at < len(files); at++ {
				more := f.base(files[at])
				if size += len(more); size > maxText {
					f.addWhole(files[at]) // its rules and those of others would fill the memory
				} else {
					rules = append(rules, rulesOf(more)...)
				}
			}
			f.followTargets(file, rules, o)
			f.addIncluded(file, files)
			return
		}
		if len(o.files) > 1 {
			f.addWhole(file) // a new one would be read instead of the others
		}
	}
}

// followTargets adds targets, and those of their prerequisites that check.
func (f *follower) followTargets(file string, rules []rule, o makeCall) {
	if len(o.targets) == 0 {
		o.targets = defaultTarget(rules)
	}
	for n := 0; n < len(o.targets) && n < maxScripts; n++ {
		if slices.Contains(f.defining[file].parts, o.targets[n]) {
			continue
		}
		f.addParts(file, o.targets[n])
		for _, r := range rulesFor(rules, o.targets[n]) {
			f.enqueue(shellText{strings.ReplaceAll(r.recipe(), "$(MAKE)", "make"), o.from.dir, o.from.isSetup})
			o.targets = append(o.targets, slices.DeleteFunc(slices.Clone(r.needs), func(need string) bool { return !checkName.MatchString(need) })...)
		}
	}
	f.addFilesNamedLikeTargets(file, rules, o)
}

// defaultTarget returns what a call without targets makes.
func defaultTarget(rules []rule) []string {
	at := slices.IndexFunc(rules, func(r rule) bool { return len(r.names) > 0 && !strings.HasPrefix(r.names[0], ".") })
	if at < 0 {
		return nil
	}
	return rules[at].names[:1]
}
