package checkout

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/handover"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/proof"
	paths "github.com/ralph-loop/ralph/internal/suite"
)

// Tests rely on more than on what is called a test: on files that a link gives such a
// name, and on data beside the product that they read.

// reliance remembers what tests of commits rely on: a large repository takes seconds.
type reliance struct {
	trees map[string]tree    // by commit
	named map[[2]string]used // by commit and the name of a file or folder
}

// tree is what a commit has: links that stay within it, programs, and folders with code.
type tree struct {
	links    []handover.Link
	programs map[string]bool
	coded    map[string]bool
}

type used struct{ tests, checks, settings, product bool }

func (u used) or(v used) used {
	return used{u.tests || v.tests, u.checks || v.checks, u.settings || v.settings, u.product || v.product}
}

func (r *reliance) tree(ctx context.Context, trusted *git.Trusted, commit string) (tree, error) {
	if known, is := r.trees[commit]; is {
		return known, nil
	}
	is := tree{programs: map[string]bool{}, coded: map[string]bool{}}
	listed, err := trusted.ListAll(ctx, commit)
	if err != nil {
		return is, err
	}
	for _, entry := range listed {
		if paths.Code(entry.Path) {
			is.coded[path.Dir(entry.Path)] = true
		}
		if entry.Mode == git.ModeProgram {
			is.programs[entry.Path] = true
		}
	}
	if is.links, err = handover.Links(ctx, trusted, listed); err != nil {
		return is, err
	}
	r.trees[commit] = is
	return is, nil
}

const mostListed = 64 << 20

func linkedTest(all []handover.Link, name string) bool {
	return slices.ContainsFunc(all, func(l handover.Link) bool {
		rest, within := strings.CutPrefix(name+"/", l.To+"/")
		return within && isTest(strings.TrimSuffix(l.At+"/"+rest, "/"))
	})
}

const inPatterns = 100

// read takes the files that tests or checks of a commit name, and that are no program, for
// what these compare with, and those that settings name for settings. What the product
// names, too, is the product's. A name without an ending is often a program's: it counts
// where a file that defines the checks has it.
func (m *marks) read(commit string, files []proof.Differing) {
	base, err := m.tree(m.ctx, m.trusted, commit)
	if err != nil {
		m.err = err
		return
	}
	var candidates []*proof.Differing
	for i := range files {
		if d := &files[i]; d.Was && !d.Tests && !paths.Code(d.Path) && !paths.Needed(d.Path) && !base.programs[d.Path] {
			candidates = append(candidates, d)
		}
	}
	for some := range slices.Chunk(candidates, inPatterns) {
		var names []string
		for _, d := range some {
			names = append(append(names, path.Base(d.Path)), base.data(d.Path)...)
		}
		m.name(commit, names)
		for _, d := range some {
			by := m.uses(commit, d.Path, base.data(d.Path))
			d.Tests, d.Doubtful = by.tests && !by.product, d.Doubtful || by.tests
			d.Settings = !d.Tests && (d.Settings || by.settings && shared.MatchString(d.Path))
		}
	}
}

// uses tells what names a file, or a folder for the sake of what is in it.
func (m *marks) uses(commit, name string, folders []string) used {
	by := m.named[[2]string{commit, path.Base(name)}]
	by.tests = by.checks || by.tests && path.Ext(name) != ""
	for _, folder := range folders {
		in := m.named[[2]string{commit, folder}]
		by.tests = by.tests || (in.tests || in.checks) && !in.product
	}
	return by
}

// data are the folders of a file that hold no code, each with a slash behind its name.
func (t tree) data(name string) (folders []string) {
	for dir := path.Dir(name); dir != "." && !t.coded[dir]; dir = path.Dir(dir) {
		folders = append(folders, path.Base(dir)+"/")
	}
	return folders
}

// shared is what settings take parts from. Other data that they name may be what is built.
var shared = pattern.Of(`\.(jsonc?|ya?ml|toml|xml|ini|cfg)$`)

// asked is a search for a file's whole name, or for a folder's where what is in it is
// found by a pattern or put together: `data/*.in`, Path("data").
func asked(name string) string {
	if strings.HasSuffix(name, "/") {
		return `(^|[^[:alnum:]_.-])` + core(name)
	}
	return `[[:alnum:]_.-]*` + core(name) + `[[:alnum:]_-]*(\.[[:alnum:]_-]+)*`
}

func core(name string) string {
	if folder, is := strings.CutSuffix(name, "/"); is {
		return regexp.QuoteMeta(folder) + `(/[*$%{<]|/?["'` + "`" + `])`
	}
	return regexp.QuoteMeta(name)
}

// name looks for the names of files and folders in tests, settings and other code of a
// commit.
func (m *marks) name(commit string, names []string) {
	names = slices.DeleteFunc(names, func(name string) bool { _, known := m.named[[2]string{commit, name}]; return known })
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 0 {
		return
	}
	var cores, expressions []string
	for _, name := range names {
		cores, expressions = append(cores, core(name)), append(expressions, asked(name))
	}
	all, err := m.trusted.Matches(m.ctx, commit, cores, expressions)
	if err != nil {
		m.err = err
		return
	}
	for _, name := range names {
		m.named[[2]string{commit, name}] = used{}
	}
	for file, parts := range all {
		by := used{tests: paths.Tracked(file) != paths.None, checks: slices.Contains(m.checks, file), settings: paths.Settings(file)}
		by.product = paths.Code(file) && by == used{}
		for _, name := range names {
			folder := strings.HasSuffix(name, "/") && slices.ContainsFunc(parts, regexp.MustCompile(`^(?:`+asked(name)+`)$`).MatchString)
			if at := [2]string{commit, name}; folder || slices.Contains(parts, name) {
				m.named[at] = m.named[at].or(by)
			}
		}
	}
}

// depends tells whether the change of a build file only adds dependencies and the like.
func (m *marks) depends(name string) bool {
	if !paths.Builds(name) {
		return false
	}
	text, cut, err := m.trusted.Diff(m.ctx, m.span, mostPatch, name)
	if err != nil {
		m.err = err
	}
	return !cut && paths.Depends(name, text)
}
