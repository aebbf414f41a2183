package checkout

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/checkdef"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/handover"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/proof"
	paths "github.com/ralph-loop/ralph/internal/suite"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// Stories finds the tests and files of stories: see proof.Tests.
type Stories interface {
	Of(ctx context.Context, run journal.Run, story, commit string) ([]string, error)
	Touched(ctx context.Context, run journal.Run, story, commit string) ([]string, error)
	proof.History
}

// noWork is of stories whose iterations are not known.
type noWork struct{}

func (noWork) Without(_ context.Context, commit string, _ []journal.CommitsTaken) (string, error) {
	return commit, nil
}

func (noWork) With(_ context.Context, commit string, _ journal.Joined) (string, error) {
	return commit, nil
}

// tests implements proof.Tests and proof.Changes for the repository of a run.
type tests struct {
	*Clean
	Stories
}

// Touched returns the files that spans of commits change, without ralph's own.
func Touched(ctx context.Context, trusted *git.Trusted, run journal.Run, spans []git.Span) ([]string, error) {
	var files []string
	for _, span := range spans {
		paths, err := trusted.ChangedPaths(ctx, span)
		if err != nil {
			return nil, err
		}
		files = append(files, paths...)
	}
	own := append(ownFiles(run), memory(run).PromptFile())
	files = slices.DeleteFunc(files, func(name string) bool { return git.Ours(name) || slices.Contains(own, name) })
	slices.Sort(files)
	return slices.Compact(files), nil
}

// Testing returns those of some files that are tests, their helpers and data, or name their dependencies.
func Testing(ctx context.Context, trusted *git.Trusted, run journal.Run, commit string, files []string) ([]string, error) {
	slices.Sort(files)
	files = slices.Compact(files)
	m := comparison{ctx: ctx, trusted: trusted, span: git.Span{From: run.Base, To: commit}, paths: slices.DeleteFunc(slices.Clone(files), isTest)}
	speaks, own := m.matchingEither(paths.Speaks), ownFiles(run)
	return slices.DeleteFunc(files, func(name string) bool {
		return slices.Contains(own, name) || !isTest(name) && !paths.Needed(name) && !speaks[name]
	}), m.err
}

func isTest(name string) bool { return paths.Of(name) != paths.None }

// Onto returns the base with some files of a commit. Files that define checks stay as in the base.
func (t tests) Onto(ctx context.Context, run journal.Run, commit string, files []string) (string, error) {
	stand, _, err := t.restore(ctx, run, commit)
	if err != nil {
		return "", err
	}
	return t.Trusted.Overlay(ctx, git.Overlay{Onto: run.Base, From: cmp.Or(stand, commit), Paths: files})
}

// Differing returns the files in which two commits differ, without ralph's own, and what
// each is for the tests. A file that a check names is a test, no matter its name. So is
// data that a test of the base names.
func (t tests) Differing(ctx context.Context, run journal.Run, from, to string) ([]proof.Differing, error) {
	span := git.Span{From: from, To: to}
	all, err := t.Trusted.Compare(ctx, span)
	if err != nil {
		return nil, err
	}
	m := comparison{ctx: ctx, trusted: t.Trusted, span: span, named: map[use]map[string]bool{}, users: map[use]users{}, removed: map[string]bool{}}
	for _, d := range all {
		m.paths, m.removed[d.Path] = append(m.paths, d.Path), d.Mode == git.ModeNone
	}
	base, err := readTree(ctx, t.Trusted, run.Base)
	if err != nil {
		return nil, err
	}
	m.typed = base.typed
	files, err := t.differing(ctx, run, &m, base.links, all)
	if err != nil {
		return nil, err
	}
	m.markData(base, run.Base, files)
	m.markImported(run.Base, files)
	m.markInline(t.passedAt(run, from), files)
	m.markScripts(base, run, files) // the rest: tests in a script are put back alone
	return files, m.err
}

// passedAt returns the names of all tests that passed at a commit: the base, or one with a proof.
// proof.Prover reads the same records, and holds the work if it cannot.
func (t tests) passedAt(run journal.Run, commit string) (names []string) {
	checks := run.BaseChecks
	for _, proof := range run.Proofs {
		if proof.Commit == commit {
			checks = proof.Checks
		}
	}
	for _, check := range checks {
		told, _ := t.Told(check)
		names = append(names, told.Names(tally.Passed)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (t tests) differing(ctx context.Context, run journal.Run, m *comparison, links []handover.Link, all []git.Change) ([]proof.Differing, error) {
	speaks := m.matchingEither(paths.Speaks)
	asks, steers := m.matchingNew(paths.Asks), m.matchingNew(paths.Steers)
	own, defining := ownFiles(run), commands(run)
	named := defining.Named()
	base, now := reader{ctx: ctx, trusted: m.trusted, commit: run.Base}, reader{ctx: ctx, trusted: m.trusted, commit: m.span.To}
	defining.Touched, defining.Files = m.paths, base.files()
	led, changes := checkdef.Paths(defining, base.file), checkdef.Changed(defining, base.file, now.present)
	untouched, err := t.definitions(ctx, run)
	if err != nil {
		return nil, err
	}
	m.checks = slices.Sorted(slices.Values(slices.Concat(named, led, untouched)))
	var files []proof.Differing
	for _, d := range all {
		if slices.Contains(own, d.Path) {
			continue
		}
		change, partly := changes[d.Path]
		test := isTest(d.Path) || d.Was() && paths.Tracked(d.Path) != paths.None
		_, is := slices.BinarySearch(led, d.Path)
		called := slices.Contains(named, d.Path) // maybe the product: sh -n price.sh
		sure := test && !paths.Shipped(d.Path) && (d.Was() || paths.Runs(d.Path))
		files = append(files, proof.Differing{
			Path: d.Path, Was: d.Was(),
			Tests: called || test || speaks[d.Path] || linkedTest(links, d.Path), Doubtful: !sure,
			Steers:   test && steers[d.Path],
			Asks:     !test && paths.Code(d.Path) && asks[d.Path],
			Settings: !called && !sure && !speaks[d.Path] && (partly && !change.Sure || !is && m.settings(d)),
			Text:     change.Text,
		})
	}
	return files, errors.Join(base.err, now.err)
}

// settings reports whether a tool may read its settings from a file, or finds another file with it. A build file that
// only gets more dependencies does not count.
func (m *comparison) settings(d git.Change) bool {
	return m.hides(d) || paths.Settings(d.Path) && (!d.Was() || !m.depends(d.Path))
}

// comparison searches the files in which two commits differ.
type comparison struct {
	ctx     context.Context //nolint:containedctx // lives as long as a call
	trusted *git.Trusted
	span    git.Span
	paths   []string
	removed map[string]bool
	typed   map[string]string       // see tree
	checks  []string                // files that define the checks, sorted
	named   map[use]map[string]bool // the files that contain a name
	users   map[use]users
	err     error
}

func (m *comparison) matching(commit, expression string, paths []string) map[string]bool {
	found, err := m.trusted.FilesMatching(m.ctx, commit, []string{expression}, paths)
	if err != nil {
		m.err = err
	}
	all := map[string]bool{}
	for _, name := range found {
		all[name] = true
	}
	return all
}

func (m *comparison) matchingEither(expression string) map[string]bool {
	all := m.matching(m.span.From, expression, m.paths)
	maps.Copy(all, m.matching(m.span.To, expression, m.paths))
	return all
}

// matchingNew returns the files that match an expression now and did not before.
func (m *comparison) matchingNew(expression string) map[string]bool {
	now := m.matching(m.span.To, expression, m.paths)
	before := m.matching(m.span.From, expression, slices.Sorted(maps.Keys(now))) // most changes have none
	maps.DeleteFunc(now, func(name string, _ bool) bool { return before[name] })
	return now
}

// Reads reports whether a command, or a file of the base that defines it, names a variable.
func (t tests) Reads(ctx context.Context, run journal.Run, command, variable string) (bool, error) {
	if strings.Contains(command, variable) {
		return true, nil
	}
	base := reader{ctx: ctx, trusted: t.Trusted, commit: run.Base}
	reads := slices.ContainsFunc(checkdef.Paths(checkdef.CommandSet{Checks: []string{command}, Within: run.Policy.Subfolder}, base.file), func(name string) bool {
		return bytes.Contains(base.file(name), []byte(variable))
	})
	return reads, base.err
}

// Mixed reports whether a project may run vitest's test files in one process: a file of
// either commit says "isolate", or the change touches vite's settings.
func (t tests) Mixed(ctx context.Context, run journal.Run, from, to string) (bool, error) {
	touched, err := t.Trusted.ChangedPaths(ctx, git.Span{From: from, To: to})
	if err != nil || slices.ContainsFunc(touched, func(name string) bool { return strings.Contains(path.Base(name), "vite") }) {
		return true, err
	}
	for _, commit := range []string{run.Base, to} {
		if found, err := t.Trusted.FilesMatching(ctx, commit, []string{`\bisolate\b`}, []string{""}); err != nil || len(found) > 0 {
			return true, err
		}
	}
	return false, nil
}

// Limits of the diff of a test file that is shown.
const (
	mostPatch  = 16 << 10
	mostOfFile = 40
	longLine   = 200
)

// Patch returns the first lines of a file's diff, without the head of the patch.
func (t tests) Patch(ctx context.Context, from, to, path string) ([]string, error) {
	text, _, err := t.Trusted.Diff(ctx, git.Span{From: from, To: to}, mostPatch, path)
	if err != nil {
		return nil, err
	}
	var lines []string
	_, body, _ := strings.Cut(text, "\n@@")
	for line := range strings.Lines("@@" + body) {
		if len(lines) == mostOfFile {
			break
		}
		lines = append(lines, strings.ToValidUTF8(line[:min(len(strings.TrimRight(line, "\n")), longLine)], ""))
	}
	return lines, nil
}

// Text returns a file of a commit, or nothing if it is missing, a link or too large.
func (t tests) Text(ctx context.Context, commit, path string) (string, error) {
	at := reader{ctx: ctx, trusted: t.Trusted, commit: commit}
	return string(at.file(path)), at.err
}

// Told returns all tests that a check reported, from the file beside its log. A missing file,
// and one with another digest than the journal's, is an error: an agent could have removed it.
// A job goes on with runs of other machines, which left these files there; no agent reaches its own.
func (t tests) Told(check journal.CheckEnded) (tally.Tally, error) {
	if check.Tests == nil || check.Tests.All.Path == "" {
		return tally.Tally{}, nil
	}
	text, err := t.Logs.Read(filepath.Base(check.Tests.All.Path), check.Tests.All.Digest)
	switch {
	case err != nil && t.InJob:
		return tally.Tally{}, nil
	case err != nil:
		return tally.Tally{}, fmt.Errorf("the record of the tests of %s cannot be read: %w", check.Name, err)
	}
	told := tally.Parse(text)
	told.Passed = max(told.Passed, check.Tests.Passed)
	return told, nil
}

// memory returns the folder with ralph's own files, and ownFiles the files in it that ralph writes.
func memory(run journal.Run) workspace.Memory {
	return workspace.Memory{Dir: cmp.Or(run.Policy.Memory, workspace.MemoryDir)}
}

func ownFiles(run journal.Run) []string { return memory(run).Files() }
