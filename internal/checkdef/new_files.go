package checkdef

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/makefile"
	"github.com/ralph-loop/ralph/internal/pattern"
)

// A new file can define the checks though the base does not name it: a pattern
// matches it, make takes it for a target that is up to date, or it is a program
// that is found first. So the touched files are searched.

// matchingTouched returns the touched files that a pattern matches in a folder.
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

// addFilesNamedLikeTargets adds new files with the names of targets: make takes these for up to date.
func (f *follower) addFilesNamedLikeTargets(file string, rules []makefile.Rule, o makeCall) {
	if isJustfile(file) {
		return
	}
	phony := words(strings.Join(phonyTargets(rules), " "))
	for _, goal := range o.targets {
		if name := inRepository(o.from.dir, goal); f.touches(name) && !phony[goal] {
			f.addIfNew(name)
		}
	}
	for _, r := range rules {
		if !touchesTarget.MatchString(r.Recipe()) {
			continue
		}
		for _, target := range r.Targets {
			f.addStampFiles(inRepository(o.from.dir, target))
		}
	}
}

func isJustfile(file string) bool {
	return strings.Contains(strings.ToLower(path.Base(file)), "justfile")
}

// touchesTarget matches a recipe whose file only marks that it ran.
var touchesTarget = pattern.Of(`(^|[\s;&@-])touch\s+([^;&|\n]*\s)?["']?\$[({]?@`)

// addStampFiles adds the new files with which a target is up to date.
func (f *follower) addStampFiles(target string) {
	before, after, wild := strings.Cut(target, "%")
	for _, name := range f.touched {
		if name == target || wild && len(name) > len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after) {
			f.addIfNew(name)
		}
	}
}

var (
	// pathAssignment matches where a script changes PATH.
	pathAssignment   = pattern.Of(`\bPATH\s*[:?+]?=\s*["']?([^\s"';]+)`)
	workingDirPrefix = pattern.Of(`^(\$\{?PWD\}?|\$\((PWD|CURDIR|pwd)\)|\.)/`)
	// commonPrograms matches programs that scripts call by name.
	commonPrograms = words(`sh bash test [ env cat echo printf cmp diff comm grep egrep fgrep sed awk sort uniq head tail cut tr wc bc expr find
xargs tee jq true false timeout seq make go gofmt git node npm npx python python3 pytest ruby perl cargo rustc java mvn gradle`)
)

// addProgramsOnPath adds new programs that hide common ones on PATH.
func (f *follower) addProgramsOnPath(e shellText) {
	for _, found := range pathAssignment.FindAllStringSubmatch(e.text, -1) {
		for dir := range strings.SplitSeq(strings.TrimPrefix(found[1], "="), ":") {
			dir = inRepository(e.dir, workingDirPrefix.ReplaceAllString(dir, ""))
			for program := range commonPrograms {
				if name := path.Join(dir, program); dir != "" && f.touches(name) {
					f.addIfNew(name)
				}
			}
		}
	}
}

// followLoop records the values of a loop's variable, and adds the files that the script sources by it.
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
