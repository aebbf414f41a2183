package checkdef

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/makefile"
)

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
			rules := makefile.Rules(text)
			files := f.includedFiles(rules, o.from.dir)
			for at, size := 0, len(text); at < len(files); at++ {
				more := f.base(files[at])
				if size += len(more); size > maxText {
					f.addWhole(files[at]) // its rules and those of others would fill the memory
				} else {
					rules = append(rules, makefile.Rules(more)...)
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
func (f *follower) followTargets(file string, rules []makefile.Rule, o makeCall) {
	if len(o.targets) == 0 {
		o.targets = defaultTarget(rules)
	}
	for n := 0; n < len(o.targets) && n < maxScripts; n++ {
		if slices.Contains(f.defining[file].parts, o.targets[n]) {
			continue
		}
		f.addParts(file, o.targets[n])
		for _, r := range rulesFor(rules, o.targets[n]) {
			f.enqueue(shellText{strings.ReplaceAll(r.Recipe(), "$(MAKE)", "make"), o.from.dir, o.from.isSetup})
			o.targets = append(o.targets, slices.DeleteFunc(slices.Clone(r.Needs), func(need string) bool { return !checkName.MatchString(need) })...)
		}
	}
	f.addFilesNamedLikeTargets(file, rules, o)
}

// defaultTarget returns what a call without targets makes.
func defaultTarget(rules []makefile.Rule) []string {
	at := slices.IndexFunc(rules, func(r makefile.Rule) bool { return len(r.Targets) > 0 && !strings.HasPrefix(r.Targets[0], ".") })
	if at < 0 {
		return nil
	}
	return rules[at].Targets[:1]
}
