// Package checkdef finds the project's files, and the parts of them, that define
// its checks: scripts that a check's command names, recipes of make targets,
// scripts of a package.json, sections of a runner's settings. An agent that
// changes them could make its checks pass without doing the work. The package
// opens no files and runs nothing. Test files do not define checks.
package checkdef

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"
)

// Files returns the text of the file at a slash path, or nil if there is none. The text of a
// link, or of a file that is too large, is longer than any that is read here.
type Files func(name string) []byte

// Change is a change of a file that may define the checks.
type Change struct {
	Text []byte // the base's text with what the product needs of the new one; nil: the base's text
	Sure bool   // the checks certainly run a changed part
}

// CommandSet holds the commands of the checks and of their setup.
type CommandSet struct {
	Within  string // the folder in which they run
	Checks  []string
	Setup   []string
	Touched []string // the files that the change touches
	Files   []string // all files of the base: commands are followed into folders above touched files, or into all if none is
}

// Paths returns the files that define what the commands do, or would if they came.
func Paths(commands CommandSet, base Files) []string {
	defining := follow(commands, base)
	maps.DeleteFunc(defining, func(name string, g definition) bool { return g.onlyNew && base(name) != nil })
	return slices.Sorted(maps.Keys(defining))
}

// Changed returns the touched files whose change may affect the checks, by name.
func Changed(commands CommandSet, base, now Files) map[string]Change {
	changes, defining := map[string]Change{}, follow(commands, base)
	above := allAbove(slices.Collect(maps.Keys(defining)))
	for _, name := range commands.Touched {
		g, is := defining[name]
		if !is && above[name] && len(now(name)) > maxText { // a link leads to such files
			changes[name] = Change{Sure: true}
		}
		if !is || g.onlyNew && (base(name) != nil || now(name) == nil) || isNewPackage(name, commands.Files) {
			continue
		}
		if change, differs := g.change(name, base, now(name)); differs {
			changes[name] = change
		}
	}
	return changes
}

// isNewPackage reports whether a package.json is of a folder that the base does not have. It hides none of an upper folder.
func isNewPackage(name string, base []string) bool {
	folder := path.Dir(name)
	return path.Base(name) == "package.json" && folder != "." && !strings.Contains("/"+folder, "/node_modules") &&
		!slices.ContainsFunc(base, func(file string) bool { return strings.HasPrefix(file, folder+"/") })
}

// definition names the parts of a file that define the checks.
type definition struct {
	whole   bool
	onlyNew bool     // it counts only if the base has no such file
	parts   []string // targets, sections, "scripts.NAME", or other members by their path
}

func (g definition) change(name string, base Files, is []byte) (Change, bool) {
	was, whole := base(name), Change{Sure: true}
	switch file := path.Base(name); {
	case bytes.Equal(was, is) && (was == nil) == (is == nil):
		return whole, false
	case g.whole, is == nil, was == nil && file == "package.json", // it hides the one of an upper folder
		len(is) > maxText && path.Ext(file) != ".json": // what it means would take minutes to find out
		return whole, true
	}
	text, same := g.asBase(name, was, is, base)
	if bytes.Equal(text, was) {
		text = nil
	}
	sure := g.partsDiffer(name, was, is)
	return Change{text, sure}, sure || !same
}

// follower is a chain of commands that is being followed.
type follower struct {
	base     Files
	defining map[string]definition
	queue    []shellText
	away     map[shellText]bool // texts to follow again, in other folders
	seen     map[shellText]bool
	calls    int

	touched   []string
	above     map[string]bool     // folders with touched files
	named     map[string][]string // touched files, then the base's, by their last part
	all       map[string]bool     // names whose files all count as a whole, as too many folders have them
	loopWords map[string][]string // the values of a script's loop variables
}

// shellText is a shell script and the folder in which it runs.
type shellText struct {
	text, dir string
	isSetup   bool
}

// Real chains of commands are short.
const (
	maxRounds  = 3 // a text followed in another folder may lead to a third one
	maxScripts = 200
	maxAway    = 2000
	maxTexts   = 3 * maxAway // of a round: those in other folders lead to more there
	maxCalls   = 20_000
	maxWords   = 2000
	maxText    = 256 << 10
)

func follow(commands CommandSet, base Files) map[string]definition {
	t := &follower{base: base, defining: map[string]definition{}, away: map[shellText]bool{}, seen: map[shellText]bool{}, touched: slices.Sorted(slices.Values(commands.Touched)), above: allAbove(commands.Touched), named: map[string][]string{}, all: map[string]bool{}, loopWords: map[string][]string{}}
	for _, name := range slices.Concat(commands.Touched, slices.DeleteFunc(slices.Clone(commands.Files), t.touches)) {
		t.named[path.Base(name)] = append(t.named[path.Base(name)], name)
	}
	for _, command := range commands.Checks {
		t.enqueue(shellText{text: command, dir: commands.Within})
	}
	for _, command := range commands.Setup {
		t.enqueue(shellText{command, commands.Within, true})
	}
	for range maxRounds { // with limits of its own: a change can touch any number of folders
		t.followAll()
		away := t.away
		t.queue, t.away, t.all, t.calls = nil, map[shellText]bool{}, map[string]bool{}, 0
		for text := range away {
			t.enqueue(text)
		}
	}
	return t.defining
}

// followAll follows all texts in the queue, which grows while it does.
func (f *follower) followAll() {
	base := f.base
	defer func() { f.base = base }()
	for n := 0; n < len(f.queue) && n < maxTexts; n++ {
		in := f.queue[n]
		asked := map[string]bool{}
		f.base = func(name string) []byte {
			asked[strings.TrimPrefix(name, in.dir+"/")] = true
			return base(name)
		}
		f.addProgramsOnPath(in)
		for _, call := range calls(in.text) {
			if f.calls++; f.calls < maxCalls {
				f.followCall(call, in)
			}
		}
		f.followElsewhere(in, asked)
	}
}

// followElsewhere follows a text also in the folders above touched files that have a file which it asked for:
// cd, a flag or the settings of a workspace may lead there. If there are too many, the files count as a whole.
// Without touched files it does so in all folders.
func (f *follower) followElsewhere(in shellText, asked map[string]bool) {
	for name := range asked {
		if f.all[name] {
			continue
		}
		f.all[name] = len(f.away) >= maxAway
		for _, file := range f.named[path.Base(name)] {
			if dir, is := strings.CutSuffix(file, "/"+name); is && (f.above[dir] || len(f.touched) == 0) {
				f.followLater(shellText{in.text, dir, in.isSetup}, file)
			}
		}
	}
}

// followLater follows a text in the folder of a file that it asked for, or adds the file when there are too many.
func (f *follower) followLater(e shellText, file string) {
	switch {
	case len(f.away) >= maxAway:
		f.addWhole(file)
	case !f.seen[e]:
		f.away[e] = true
	}
}

func (f *follower) touches(file string) bool {
	_, is := slices.BinarySearch(f.touched, file)
	return is
}

func allAbove(files []string) map[string]bool {
	all := map[string]bool{}
	for _, name := range files {
		for dir := path.Dir(name); dir != "." && !all[dir]; dir = path.Dir(dir) {
			all[dir] = true
		}
	}
	return all
}

func (f *follower) enqueue(e shellText) {
	if len(e.text) < maxText && !f.seen[e] {
		f.seen[e] = true
		f.queue = append(f.queue, e)
	}
}

func (f *follower) addWhole(name string) { f.defining[name] = definition{whole: true} }

// addParts adds parts of a file.
func (f *follower) addParts(name string, parts ...string) {
	g := f.defining[name]
	if g.whole {
		return
	}
	for _, part := range parts {
		if !slices.Contains(g.parts, part) {
			g.parts = append(g.parts, part)
		}
	}
	f.defining[name] = g
}

// inRepository resolves a path in a folder of the repository. It is empty if the path leads out.
func inRepository(dir, name string) string {
	name = path.Join(dir, name)
	if path.IsAbs(name) || name == ".." || strings.HasPrefix(name, "../") {
		return ""
	}
	return name
}

func (f *follower) followCall(words []string, in shellText) {
	f.addPreloads(words, in)
	f.followLoop(words, in)
	words = withoutWrappers(words)
	if len(words) == 0 {
		return
	}
	for i, word := range words {
		tool := path.Base(word)
		f.addFiles(tool, in.dir)
		if i > 0 && (mentioning[words[0]] || word == "." || strings.Contains(word, "/") && !bytes.HasPrefix(f.base(inRepository(in.dir, word)), []byte("#!"))) {
			continue // only an argument
		}
		f.followTool(words[i:], in)
	}
}

// followTool follows a call that may stand behind others: timeout 60, npx, uv run, bash -c.
func (f *follower) followTool(words []string, in shellText) {
	switch tool := path.Base(words[0]); tool {
	case "make", "gmake", "just":
		f.followMake(makeCallOf(tool, words[1:], in))
	case "npm", "pnpm", "yarn", "bun":
		f.followNodeScript(words[1:], in)
	case "go":
		f.addGoProgram(words[1:], in)
	}
	f.followScript(words, in)
}
