package checkdef

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// Some of what defines the checks has no name before it comes: what a pattern
// stands for, what make takes for made, a program that is found first. It is
// looked for among the files that a change touches.

// meant are the touched files that a word stands for, seen from a folder.
func (t *trail) meant(word, dir string) []string {
	word = atFolder(dir, word)
	if word == "" || !strings.ContainsAny(word, "*?[") {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(t.touched), func(name string) bool {
		is, err := path.Match(word, name)
		return err != nil || !is || ofTests(name)
	})
}

// goals takes hold of new files named like targets: make takes them for made, and does nothing.
func (t *trail) goals(file string, rules []rule, o order) {
	if strings.Contains(strings.ToLower(path.Base(file)), "justfile") {
		return
	}
	for _, goal := range o.wanted {
		if name := atFolder(o.in.dir, goal); slices.Contains(t.touched, name) && !slices.Contains(phony(rules), goal) {
			t.fresh(name)
		}
	}
	for _, r := range rules {
		if !stamping.MatchString(r.recipe()) {
			continue
		}
		for _, target := range r.names {
			t.stamps(atFolder(o.in.dir, target))
		}
	}
}

// stamping is a recipe that leaves a file only to say that it was run.
var stamping = pattern.Of(`(^|[\s;&@-])touch\s+([^;&|\n]*\s)?["']?\$[({]?@`)

// stamps takes hold of the new files that a target stands for.
func (t *trail) stamps(target string) {
	before, after, wild := strings.Cut(target, "%")
	for _, name := range t.touched {
		if name == target || wild && len(name) > len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after) {
			t.fresh(name)
		}
	}
}

var (
	// searched is where a script has programs looked for first.
	searched = pattern.Of(`\bPATH\s*[:?+]?=\s*["']?([^\s"';]+)`)
	here     = pattern.Of(`^(\$\{?PWD\}?|\$\((PWD|CURDIR|pwd)\)|\.)/`)
	// ordinary are programs that everybody calls by their name.
	ordinary = words(`sh bash test [ env cat echo printf cmp diff comm grep egrep fgrep sed awk sort uniq head tail cut tr wc bc expr find
xargs tee jq true false timeout seq make go gofmt git node npm npx python python3 pytest ruby perl cargo rustc java mvn gradle`)
)

// sought takes hold of new programs that would be found before ordinary ones.
func (t *trail) sought(e errand) {
	for _, found := range searched.FindAllStringSubmatch(e.text, -1) {
		for dir := range strings.SplitSeq(strings.TrimPrefix(found[1], "="), ":") {
			dir = atFolder(e.dir, here.ReplaceAllString(dir, ""))
			for _, name := range t.touched {
				if dir != "" && path.Dir(name) == dir && ordinary[path.Base(name)] {
					t.fresh(name)
				}
			}
		}
	}
}

// looped is what a loop's variable stands for, where a script reads that in.
func (t *trail) looped(call []string, in errand) {
	const shortest = 4 // for NAME in WORD
	if len(call) >= shortest && call[0] == "for" && call[2] == "in" {
		t.loops[call[1]] = call[3:]
	}
	call = bare(slices.Clone(call))
	if len(call) < 2 || call[0] != "." && call[0] != "source" {
		return
	}
	words := []string{call[1]}
	for name, each := range t.loops {
		if said := strings.TrimPrefix(strings.ReplaceAll(call[1], "$$", "$"), "./"); said == "$"+name || said == "$" { // braces are left out
			words = append(words, each...)
		}
	}
	for _, word := range words {
		for _, name := range t.meant(word, in.dir) {
			t.read(name, in)
		}
	}
}
