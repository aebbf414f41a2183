package checkdef

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// rule is a target with its recipe, or the lines between two rules, without a name.
type rule struct {
	names []string
	needs []string
	also  string   // what of the recipe stands there, behind a semicolon
	lines []string // of the recipe
}

var (
	ruleLine = pattern.Of(`^@?([A-Za-z0-9_./%$(){}-][^:=#\t]*?)\s*::?(?:[^=:]|$)`)
	// odd can change a recipe from afar: then the whole file is put back.
	odd      = pattern.Of(`^\s*(override\s+|export\s+)*(SHELL|\.SHELLFLAGS|MAKEFLAGS|MFLAGS|GNUMAKEFLAGS)\b|^\s*(-?include|sinclude|define|ifeq|ifneq|ifdef|ifndef|else|endif|vpath)\b|^\.[A-OQ-Z]|^\s*set\s+\w|^\s*import\b|^\s*mod\b`)
	assigned = pattern.Of(`^\s*(?:override\s+|export\s+)*([A-Za-z_][A-Za-z0-9_.-]*)\s*([:?+!]{0,3}=)\s*(.*)$`)
	called   = pattern.Of(`\$[({]([A-Za-z_][A-Za-z0-9_.-]*)[)}]|\{\{\s*([A-Za-z_]\w*)\s*\}\}`)
)

func rulesOf(text []byte) []rule {
	all := []rule{{}}
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " \x00")) {
		line = strings.ReplaceAll(line, " \x00", " ")
		last := &all[len(all)-1]
		switch found := ruleLine.FindStringSubmatch(line); {
		case len(last.names) > 0 && (line[0] == '\t' || line[0] == ' '), strings.TrimSpace(line) == "":
			last.lines = append(last.lines, line)
		case found != nil && !odd.MatchString(line):
			_, needs, _ := strings.Cut(line, ":")
			needs, recipe, _ := strings.Cut(strings.TrimPrefix(needs, ":"), ";")
			needs, _, _ = strings.Cut(needs, "#")
			all = append(all, rule{names: strings.Fields(found[1]), needs: strings.Fields(needs), also: recipe})
		default:
			all = append(all, rule{lines: []string{line}})
		}
	}
	return all
}

func (r rule) recipe() string {
	var text strings.Builder
	for _, line := range append([]string{r.also}, r.lines...) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			text.WriteString(line + "\n")
		}
	}
	return text.String()
}

// order is what make or just is asked for.
type order struct {
	files  []string // the first that is there is read
	wanted []string
	in     errand
}

func orderOf(tool string, args []string, in errand) order {
	o := order{files: []string{"GNUmakefile", "makefile", "Makefile"}, in: in}
	if tool == "just" {
		o.files = []string{"justfile", "Justfile", ".justfile"}
	}
	for i := 0; i < len(args); i++ {
		value := args[min(i+1, len(args)-1)]
		switch args[i] {
		case "-C", "--directory":
			o.in.dir, i = atFolder(in.dir, value), i+1
		case "-f", "--file", "--makefile":
			o.files, i = []string{value}, i+1
		default:
			if !strings.HasPrefix(args[i], "-") && !strings.HasPrefix(args[i], "$") && !assignment.MatchString(args[i]) {
				o.wanted = append(o.wanted, args[i])
			}
		}
	}
	return o
}

// build follows the targets of a Makefile or justfile.
func (t *trail) build(o order) {
	for _, name := range o.files {
		file := atFolder(o.in.dir, name)
		if text := t.base(file); text != nil && file != "" && len(text) < mostText {
			rules := rulesOf(text)
			files := t.included(rules, o.in.dir)
			for _, more := range files {
				rules = append(rules, rulesOf(t.base(more))...)
			}
			t.targets(file, rules, o)
			t.beside(file, files, rules)
			return
		}
		if len(o.files) > 1 {
			t.all(file) // one that comes would be taken before the others
		}
	}
}

// targets takes hold of targets, and of those that they need and that check.
func (t *trail) targets(file string, rules []rule, o order) {
	if len(o.wanted) == 0 {
		o.wanted = goal(rules)
	}
	for n := 0; n < len(o.wanted) && n < mostErrands; n++ {
		if slices.Contains(t.led[file].parts, o.wanted[n]) {
			continue
		}
		t.some(file, targets, o.wanted[n])
		for _, r := range named(rules, o.wanted[n]) {
			t.add(errand{strings.ReplaceAll(r.recipe(), "$(MAKE)", "make"), o.in.dir, o.in.ready})
			o.wanted = append(o.wanted, slices.DeleteFunc(slices.Clone(r.needs), func(need string) bool { return !checking.MatchString(need) })...)
		}
	}
	t.goals(file, rules, o)
}

// goal is what is made where nothing is asked for.
func goal(rules []rule) []string {
	at := slices.IndexFunc(rules, func(r rule) bool { return len(r.names) > 0 && !strings.HasPrefix(r.names[0], ".") })
	if at < 0 {
		return nil
	}
	return rules[at].names[:1]
}
