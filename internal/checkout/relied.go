package checkout

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/proof"
	paths "github.com/ralph-loop/ralph/internal/suite"
)

// Tests rely on more than on what is called a test: on files that a link gives such a
// name, and on data beside the product that they read.

// link is one that a commit has.
type link struct{ at, to string }

// links are those of a commit that stay within it.
func links(ctx context.Context, trusted *git.Trusted, commit string) ([]link, error) {
	out, err := trusted.Do(ctx, git.Call{Args: []string{"ls-tree", "-r", "-z", "--full-tree", commit}, Limit: mostListed})
	if err != nil {
		return nil, fmt.Errorf("list the links of %.12s: %w", commit, err)
	}
	var all []link
	for line := range strings.SplitSeq(string(out), "\x00") {
		about, name, _ := strings.Cut(line, "\t")
		fields := strings.Fields(about)
		if len(fields) != 3 || fields[0] != git.ModeSymlink {
			continue
		}
		target, err := trusted.Ask(ctx, "cat-file", "blob", fields[2])
		if err != nil {
			return nil, fmt.Errorf("read the link %s: %w", name, err)
		}
		if to := path.Join(path.Dir(name), target); !path.IsAbs(target) && to != "." && !strings.HasPrefix(to, "../") {
			all = append(all, link{name, to})
		}
	}
	return all, nil
}

const mostListed = 64 << 20

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
// these compare with, and those that settings name for settings. A name without an
// ending is a program's as often as not.
func (m *marks) read(commit string, files []proof.Differing) {
	var candidates []*proof.Differing
	for i := range files {
		if d := &files[i]; d.Was && !d.Tests && path.Ext(d.Path) != "" && !paths.Code(d.Path) && !paths.Needed(d.Path) {
			candidates = append(candidates, d)
		}
	}
	for some := range slices.Chunk(candidates, inPatterns) {
		if tests, settings := m.naming(commit, some...); !tests && !settings {
			continue
		}
		for _, d := range some {
			tests, settings := m.naming(commit, d)
			d.Tests, d.Doubtful = tests, d.Doubtful || tests
			d.Settings = !tests && (d.Settings || settings && !paths.Document(d.Path))
		}
	}
}

// naming tells whether tests, and settings, of a commit have the name of one of some
// files in them.
func (m *marks) naming(commit string, files ...*proof.Differing) (tests, settings bool) {
	var names []string
	for _, d := range files {
		names = append(names, regexp.QuoteMeta(path.Base(d.Path)))
	}
	found, err := m.trusted.Holding(m.ctx, commit, strings.Join(names, "|"), []string{""})
	if err != nil {
		m.err = err
	}
	isOne := func(name string) bool { return paths.Tracked(name) != paths.None }
	return slices.ContainsFunc(found, isOne), slices.ContainsFunc(found, paths.Settings)
}
