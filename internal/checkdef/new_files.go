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

// matchingTouched are the touched files that a word stands for, seen from a folder.
func (f *follower) matchingTouched(word, dir string) []string {
	word = inRepository(dir, word)
	if word == "" || !strings.ContainsAny(word, "*?[") {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(f.touched), func(name string) bool {
		is, err := path.Match(word, name)
		return err != nil || !is || isTest(name)
	})
}

// addFilesNamedLikeTargets adds new files named like targets: make takes them for made, and does nothing.
func (f *follower) addFilesNamedLikeTargets(file string, rules []rule, o makeCall) {
	if strings.Contains(strings.ToLower(path.Base(file)), "justfile") {
		return
	}
	for _, goal := range o.targets {
		if name := inRepository(o.from.dir, goal); slices.Contains(f.touched, name) && !slices.Contains(phonyTargets(rules), goal) {
			f.addIfNew(name)
		}
	}
	for _, r := range rules {
		if !touchesTarget.MatchString(r.recipe()) {
			continue
		}
		for _, target := range r.names {
			f.addStampFiles(inRepository(o.from.dir, target))
		}
	}
}

// touchesTarget is a recipe that leaves a file only to say that it was run.
var touchesTarget = pattern.Of(`(^|[\s;&@-])touch\s+([^;&|\n]*\s)?["']?\$[({]?@`)

// addStampFiles adds the new files that a target stands for.
func (f *follower) addStampFiles(target string) {
	before, after, wild := strings.Cut(target, "%")
	for _, name := range f.touched {
		if name == target || wild && len(name) > len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after) {
			f.addIfNew(name)
		}
	}
}

var (
	// pathAssignment is where a script has programs looked for first.
	pathAssignment   = pattern.Of(`\bPATH\s*[:?+]?=\s*["']?([^\s"';]+)`)
	workingDirPrefix = pattern.Of(`^(\$\{?PWD\}?|\$\((PWD|CURDIR|pwd)\)|\.)/`)
	// commonPrograms are programs that everybody calls by their name.
	commonPrograms = words(`sh bash test [ env cat echo printf cmp diff comm grep egrep fgrep sed awk sort uniq head tail cut tr wc bc expr find
xargs tee jq true false timeout seq make go gofmt git node npm npx python python3 pytest ruby perl cargo rustc java mvn gradle`)
)

// addProgramsOnPath adds new programs that would be found before ordinary ones.
func (f *follower) addProgramsOnPath(e shellText) {
	for _, found := range pathAssignment.FindAllStringSubmatch(e.text, -1) {
		for dir := range strings.SplitSeq(strings.TrimPrefix(found[1], "="), ":") {
			dir = inRepository(e.dir, workingDirPrefix.ReplaceAllString(dir, ""))
			for _, name := range f.touched {
				if dir != "" && path.Dir(name) == dir && commonPrograms[path.Base(name)] {
					f.addIfNew(name)
				}
			}
		}
	}
}

// followLoop is what a loop's variable stands for, where a script reads that in.
func (f *follower) followLoop(call []string, in shellText) {
	const shortest = 4 // for NAME in WORD
	if len(call) >= shortest && call[0] == "for" && call[2] == "in" {
		f.loopWords[call[1]] = call[3:]
	}
	call = withoutWrappers(slices.Clone(call))
	if len(call) < 2 || call[0] != "." && call[0] != "source" {
		return
	}
	words := []string{call[1]}
	for name, each := range f.loopWords {
		if said := strings.TrimPrefix(strings.ReplaceAll(call[1], "$$", "$"), "./"); said == "$"+name || said == "$" { // braces are left out
			words = append(words, each...)
		}
	}
	for _, word := range words {
		for _, name := range f.matchingTouched(word, in.dir) {
			f.addSourced(name, in)
		}
	}
}
