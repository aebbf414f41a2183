package checkdef

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/makefile"
	"github.com/ralph-loop/ralph/internal/pattern"
)

// A trial keeps the growth of a Makefile: new rules with new names, and new files in the
// lists of what is built.

var (
	plainRule = pattern.Of(`^([A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*) *: *(?:(?:[\w./-]+|\$\(\w+\)) *)*$`)
	compilers = pattern.Of(`^((C|CXX|CPP|LD)FLAGS|LDLIBS)$`)
	plainFlag = pattern.Of(`^[\w./=+,-]+$`)
	plainFile = pattern.Of(`^[\w./-]+\.\w+$`)
	// silent matches lines without effect, and those that name phony targets.
	silent = pattern.Of(`^ *(#.*)?$|^\.PHONY:[\w ./-]*$`)
	// remarkable matches lines that change the meaning of others.
	remarkable = pattern.Of(`(?m)%|^\s*define\b|^\s*-?include\b|^\s*sinclude\b|^\s*(mod|import)\b|\.RECIPEPREFIX|\.ONESHELL`)
)

// growth is what a change adds to a Makefile or justfile of the base.
type growth struct {
	name       string
	old, young []makefile.Rule
	parts      []string // the targets of the checks
	base       Files
}

// keep returns the base's file with the growth of the new one.
func (g growth) keep() (text []byte, same bool) {
	was := string(g.base(g.name))
	if was == "" || remarkable.MatchString(was) {
		return g.base(g.name), false
	}
	added, rest := g.newRules(was + " " + strings.Join(g.parts, " "))
	before, now := makefile.Variables(g.old), makefile.Variables(g.young)
	checked := variablesIn(textOf(g.old, g.parts, makefile.Rule.Recipe), before)
	for name, list := range before {
		if line := &g.old[list.At[0]]; !line.AffectsAll() && !slices.Contains(checked, name) && g.extends(name, list, now[name]) {
			line.Lines[0] = g.young[now[name].At[0]].Lines[0]
		}
	}
	trial := lines(g.old)
	same = slices.Equal(said(trial), said(rest)) && !lost(phonyTargets(g.old), phonyTargets(g.young))
	return []byte(strings.Join(append(trial, added...), "\n") + "\n"), same
}

// extends reports whether a list keeps its words in their order, and all others are names of
// new files or flags of a compiler.
func (g growth) extends(name string, old, young makefile.Variable) bool {
	left := old.Words
	for _, word := range young.Words {
		file := path.Join(path.Dir(g.name), word)
		switch {
		case len(left) > 0 && word == left[0]:
			left = left[1:]
		case compilers.MatchString(name) && plainFlag.MatchString(word):
		case plainFile.MatchString(word) && g.base(file) == nil && !isTest(file):
		default:
			return false
		}
	}
	once := len(old.At) == 1 && len(young.At) == 1
	return once && len(left) == 0 && old.How == young.How && !strings.Contains(old.How, "!")
}

func lines(rules []makefile.Rule) (all []string) {
	for _, r := range rules {
		all = append(all, r.Lines...)
	}
	return all
}

func said(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return silent.MatchString(line) })
}

// mentions reports whether a text contains a name as a word.
func mentions(text, name string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(text)
}

// newRules returns the rules with new names that follow each rule of the base, and all other
// lines as rest. It looks for at most maxScripts names in the base.
func (g growth) newRules(was string) (added, rest []string) {
	behind, searched := false, 0
	for _, r := range g.young {
		if found := plainRule.FindStringSubmatch(r.Lines[0]); behind && found != nil && g.onlyRecipe(r.Lines[1:]) && searched < maxScripts {
			searched++
			if !mentions(was, found[1]) {
				added = append(added, r.Lines...)
				continue
			}
		}
		behind = behind || len(r.Targets) > 0 && !strings.HasPrefix(r.Targets[0], ".")
		rest = append(rest, r.Lines...)
	}
	return added, rest
}

// onlyRecipe reports whether all lines are of a recipe: make reads one behind blanks as any other.
func (g growth) onlyRecipe(lines []string) bool {
	just := isJustfile(g.name)
	return !slices.ContainsFunc(lines, func(line string) bool {
		return line != "" && line[0] != '\t' && (!just || line[0] != ' ')
	})
}

// workspaces returns the member of that name if a package.json only gets more of them. Otherwise
// checks may no longer run in a folder.
func workspaces(was, is []byte) []string {
	folders := func(text []byte) (all []string) {
		pack, _ := readPackageJSON(text)
		if list := pack.object("workspaces")["packages"]; list != nil {
			pack["workspaces"] = list
		}
		_ = json.Unmarshal(pack["workspaces"], &all) // anything else has no folders
		return all
	}
	before, now := folders(was), folders(is)
	out := func(folder string) bool { return strings.HasPrefix(folder, "!") && !slices.Contains(before, folder) }
	if lost(before, now) || slices.ContainsFunc(now, out) {
		return nil
	}
	return []string{"workspaces"}
}
