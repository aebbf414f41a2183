package checkout

import (
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/proof"
	paths "github.com/ralph-loop/ralph/internal/suite"
)

// Tests rely on more than on what is called a test: on files that a link gives such a
// name, and on data beside the product that they read.

// reliance remembers what tests of commits rely on: a large repository takes seconds.
type reliance struct {
	links map[string][]link  // by commit
	named map[[2]string]used // by commit and the name of a file
}

// link is one that a commit has.
type link struct{ at, to string }

// used tells what names a file.
type used struct{ tests, settings, product bool }

// linksOf are those of a commit that stay within it.
func (r *reliance) linksOf(ctx context.Context, trusted *git.Trusted, commit string) ([]link, error) {
	if all, known := r.links[commit]; known {
		return all, nil
	}
	out, err := trusted.Do(ctx, git.Call{Args: []string{"ls-tree", "-r", "-z", "--full-tree", commit}, Limit: mostListed})
	if err != nil {
		return nil, fmt.Errorf("list the links of %.12s: %w", commit, err)
	}
	var names, ids []string
	for line := range strings.SplitSeq(string(out), "\x00") {
		about, name, _ := strings.Cut(line, "\t")
		if fields := strings.Fields(about); len(fields) == 3 && fields[0] == git.ModeSymlink {
			names, ids = append(names, name), append(ids, fields[2])
		}
	}
	var all []link
	err = git.CatFile(ctx, trusted.Do, git.Call{}, ids, func(o git.Object) error {
		name := names[0]
		names = names[1:]
		target, err := io.ReadAll(io.LimitReader(o.Content, longestTarget))
		if to := path.Join(path.Dir(name), string(target)); !path.IsAbs(string(target)) && to != "." && !strings.HasPrefix(to, "../") {
			all = append(all, link{name, to})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the links of %.12s: %w", commit, err)
	}
	r.links[commit] = all
	return all, nil
}

const (
	mostListed    = 64 << 20
	longestTarget = 4096
)

// linkedTest tells whether a link gives a file the name of a test.
func linkedTest(all []link, name string) bool {
	return slices.ContainsFunc(all, func(l link) bool {
		rest, within := strings.CutPrefix(name+"/", l.to+"/")
		return within && isTest(strings.TrimSuffix(l.at+"/"+rest, "/"))
	})
}

// inPatterns is how many names one search looks for.
const inPatterns = 100

// read takes the files that tests of a commit name, and that are no program, for what
// these compare with, and those that settings name for settings. What the product names,
// too, is the product's. A name without an ending is a program's as often as not.
func (m *marks) read(commit string, files []proof.Differing) {
	var candidates []*proof.Differing
	for i := range files {
		if d := &files[i]; d.Was && !d.Tests && path.Ext(d.Path) != "" && !paths.Code(d.Path) && !paths.Needed(d.Path) {
			candidates = append(candidates, d)
		}
	}
	for some := range slices.Chunk(candidates, inPatterns) {
		m.name(commit, some)
		for _, d := range some {
			by := m.named[[2]string{commit, path.Base(d.Path)}]
			d.Tests, d.Doubtful = by.tests && !by.product, d.Doubtful || by.tests
			d.Settings = !d.Tests && (d.Settings || by.settings && shared.MatchString(d.Path))
		}
	}
}

// shared is what settings take parts from. Other data that they name may be what is built.
var shared = pattern.Of(`\.(jsonc?|ya?ml|toml|xml|ini|cfg)$`)

// name looks for files whose names stand in tests or settings of a commit.
func (m *marks) name(commit string, files []*proof.Differing) {
	var names []string
	for _, d := range files {
		name := path.Base(d.Path)
		if _, known := m.named[[2]string{commit, name}]; !known {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return
	}
	args := []string{"grep", "-o", "-z", "-I", "-F"}
	for _, name := range names {
		args = append(args, "-e", name)
	}
	out, err := m.trusted.Do(m.ctx, git.Call{Args: append(args, commit, "--"), Limit: mostListed})
	if failed, is := git.Answered(err); err != nil && (!is || failed.Exit != 1) {
		m.err = fmt.Errorf("search %.12s: %w", commit, err)
		return
	}
	for _, name := range names {
		m.named[[2]string{commit, name}] = used{}
	}
	for line := range strings.Lines(string(out)) {
		file, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\x00")
		file, at := strings.TrimPrefix(file, commit+":"), [2]string{commit, name}
		by := m.named[at]
		test, settings := paths.Tracked(file) != paths.None, paths.Settings(file)
		product := paths.Code(file) && !test && !settings && !slices.Contains(m.checks, file)
		m.named[at] = used{by.tests || test, by.settings || settings, by.product || product}
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
