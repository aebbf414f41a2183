package checkout

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/handover"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/proof"
	paths "github.com/ralph-loop/ralph/internal/suite"
)

// Tests also rely on files that do not look like tests: targets of links with the names of
// tests, and data that tests read.

// use is the name of a file or folder that was searched for in a commit.
type use struct{ commit, name string }

// tree describes a commit: links that stay within it, programs, and folders with code.
type tree struct {
	links    []handover.Link
	programs map[string]bool
	coded    map[string]bool
	typed    map[string]string // files of TypeScript, by what imports call them
}

type users struct{ tests, checks, settings, product bool }

func (u users) union(v users) users {
	return users{u.tests || v.tests, u.checks || v.checks, u.settings || v.settings, u.product || v.product}
}

var (
	typescript = pattern.Of(`(/index)?\.[cm]?tsx?$`)
	javascript = pattern.Of(`\.[cm]?jsx?$`)
)

// hides reports whether a new file hides one of TypeScript from its tests: jest and vite prefer it, compilers do not.
func (m *comparison) hides(d git.Change) bool {
	at := javascript.FindStringIndex(d.Path)
	if d.Was() || at == nil {
		return false
	}
	typed := m.typed[d.Path[:at[0]]]
	return typed != "" && !m.removed[typed]
}

// readTree reads what a commit has.
func readTree(ctx context.Context, trusted *git.Trusted, commit string) (tree, error) {
	is := tree{programs: map[string]bool{}, coded: map[string]bool{}, typed: map[string]string{}}
	listed, err := trusted.ListAll(ctx, commit)
	if err != nil {
		return is, err
	}
	for _, entry := range listed {
		if paths.Code(entry.Path) {
			is.coded[path.Dir(entry.Path)] = true
		}
		if at := typescript.FindStringIndex(entry.Path); at != nil {
			is.typed[entry.Path[:at[0]]] = entry.Path
		}
		if entry.Mode == git.ModeProgram {
			is.programs[entry.Path] = true
		}
	}
	is.links, err = handover.Links(ctx, trusted, listed)
	return is, err
}

// userOf returns which kind of user a file is. The files in checks define the checks, and are sorted.
func userOf(file string, checks []string) users {
	_, is := slices.BinarySearch(checks, file)
	by := users{tests: paths.Tracked(file) != paths.None, checks: is, settings: paths.Settings(file)}
	by.product = paths.Code(file) && by == users{}
	return by
}

const mostListed = 64 << 20

func linkedTest(all []handover.Link, name string) bool {
	return slices.ContainsFunc(all, func(l handover.Link) bool {
		rest, within := strings.CutPrefix(name+"/", l.To+"/")
		return within && isTest(strings.TrimSuffix(l.At+"/"+rest, "/"))
	})
}

const inPatterns = 100

// markScripts marks as tests the scripts that checks, or files that define them, name in any way, or by a pattern in
// their folder: scripts/*.sh.
func (m *comparison) markScripts(base tree, run journal.Run, files []proof.Differing) {
	var scripts []*proof.Differing
	var names []string
	for i := range files {
		if d := &files[i]; d.Was && !d.Tests && (shell.MatchString(d.Path) || base.programs[d.Path]) {
			scripts, names = append(scripts, d), append(names, scriptNames(d.Path)...)
		}
	}
	for some := range slices.Chunk(names, inPatterns) {
		m.findUsers(run.Base, slices.Clone(some))
	}
	for _, d := range scripts {
		d.Tests = slices.ContainsFunc(scriptNames(d.Path), func(name string) bool {
			expression := regexp.MustCompile(fullPattern(name))
			return m.usersOf(run.Base, name).checks || slices.ContainsFunc(run.Policy.Checks, func(check policy.Check) bool {
				return slices.ContainsFunc(expression.FindAllString(check.Command, -1), func(part string) bool { return slices.Contains(namesIn(part), name) })
			})
		})
	}
}

// scriptNames returns the name of a file, and its folder's with a slash.
func scriptNames(file string) []string {
	names := []string{path.Base(file)}
	if dir := path.Dir(file); dir != "." {
		names = append(names, path.Base(dir)+"/")
	}
	return names
}

var shell = pattern.Of(`\.(sh|bash)$`)

// markData marks as tests the data files that tests or checks of a commit name, and as settings
// those that settings name. A file that the product names belongs to the product. A name
// without an extension is often a program's, so only a file that defines checks counts for it.
func (m *comparison) markData(base tree, commit string, files []proof.Differing) {
	var candidates []*proof.Differing
	for i := range files {
		if d := &files[i]; d.Was && !d.Tests && !paths.Code(d.Path) && !paths.Needed(d.Path) && !base.programs[d.Path] {
			candidates = append(candidates, d)
		}
	}
	for some := range slices.Chunk(candidates, inPatterns) {
		var names []string
		for _, d := range some {
			names = append(append(names, path.Base(d.Path)), base.dataFolders(d.Path)...)
		}
		m.findUsers(commit, names)
		for _, d := range some {
			by := m.uses(commit, d.Path, base.dataFolders(d.Path))
			d.Tests, d.Doubtful = by.tests && !by.product, d.Doubtful || by.tests
			d.Settings = !d.Tests && (d.Settings || by.settings && shared.MatchString(d.Path))
		}
	}
}

// markImported marks touched test files that other tests of a commit name, with or without their extension. An index
// is loaded by the name of its folder, or by a dot.
func (m *comparison) markImported(commit string, files []proof.Differing) {
	for some := range slices.Chunk(files, inPatterns) {
		var names []string
		for _, d := range some {
			if d.Was && d.Tests {
				names = append(names, path.Base(d.Path), stem(d.Path))
			}
		}
		m.findUsers(commit, names)
		for i, d := range some {
			some[i].Imported = stem(d.Path) == "index" || m.others(commit, path.Base(d.Path), d.Path) || m.others(commit, stem(d.Path), d.Path)
		}
	}
}

// others reports whether a test other than a file has a name for which findUsers searched.
func (m *comparison) others(commit, name, than string) bool {
	for file := range m.named[use{commit, name}] {
		if file != than && isTest(file) {
			return true
		}
	}
	return false
}

func stem(name string) string { return strings.TrimSuffix(path.Base(name), path.Ext(name)) }

// uses returns what names a file, or one of its data folders.
func (m *comparison) uses(commit, name string, folders []string) users {
	by := m.usersOf(commit, path.Base(name))
	by.tests = by.checks || by.tests && path.Ext(name) != ""
	for _, folder := range folders {
		in := m.usersOf(commit, folder)
		by.tests = by.tests || (in.tests || in.checks) && !in.product
	}
	return by
}

// dataFolders returns the names of the folders above a file that hold no code, each with a slash.
func (t tree) dataFolders(name string) (folders []string) {
	for dir := path.Dir(name); dir != "." && !t.coded[dir]; dir = path.Dir(dir) {
		folders = append(folders, path.Base(dir)+"/")
	}
	return folders
}

// shared matches files that settings include. Other data that they name may be part of the product.
var shared = pattern.Of(`\.(jsonc?|ya?ml|toml|xml|ini|cfg)$`)

// fullPattern matches a file's whole name, or a folder's name where code finds files in it by a
// pattern or by joining: `data/*.in`, Path("data").
func fullPattern(name string) string {
	if strings.HasSuffix(name, "/") {
		return `(^|[^[:alnum:]_.-])` + corePattern(name)
	}
	return `[[:alnum:]_.-]*` + corePattern(name) + `[[:alnum:]_-]*(\.[[:alnum:]_-]+)*`
}

func corePattern(name string) string {
	if folder, is := strings.CutSuffix(name, "/"); is {
		return regexp.QuoteMeta(folder) + `(/[*$%{<]|/?["'` + "`" + `])`
	}
	return regexp.QuoteMeta(name)
}

// usersOf returns what kinds of files name a file or folder for which findUsers searched.
func (m *comparison) usersOf(commit, name string) users {
	at := use{commit, name}
	by, known := m.users[at]
	if !known {
		for file := range m.named[at] {
			by = by.union(userOf(file, m.checks))
		}
		m.users[at] = by
	}
	return by
}

// findUsers searches the tests, settings and other code of a commit for names of files and folders.
func (m *comparison) findUsers(commit string, names []string) {
	names = slices.DeleteFunc(names, func(name string) bool { _, known := m.named[use{commit, name}]; return known })
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 0 {
		return
	}
	var cores, expressions []string
	for _, name := range names {
		cores, expressions = append(cores, corePattern(name)), append(expressions, fullPattern(name))
	}
	for _, name := range names {
		m.named[use{commit, name}] = map[string]bool{}
	}
	err := m.trusted.Matches(m.ctx, commit, cores, expressions, func(file, part string) {
		for _, name := range namesIn(part) {
			if files, asked := m.named[use{commit, name}]; asked && !files[file] {
				files[strings.Clone(file)] = true // not all that git printed
			}
		}
	})
	if err != nil {
		m.err = err
	}
}

var aroundFolder = regexp.MustCompile("^([^[:alnum:]_.-]?)(.*?)/?[*$%{<\"'`]$")

// namesIn returns the names that a part of a line can stand for: of a file, and of folders with a slash. The character
// in front of a folder may belong to its name.
func namesIn(part string) []string {
	names := []string{part}
	if found := aroundFolder.FindStringSubmatch(part); found != nil {
		names = append(names, found[2]+"/", found[1]+found[2]+"/")
	}
	return names
}

// depends reports whether the change of a build file only adds dependencies and the like.
func (m *comparison) depends(name string) bool {
	if !paths.Builds(name) {
		return false
	}
	text, cut, err := m.trusted.Diff(m.ctx, m.span, mostPatch, name)
	if err != nil {
		m.err = err
	}
	return !cut && paths.Depends(name, text)
}
