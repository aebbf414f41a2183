package checkout

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/checkdef"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/proof"
	paths "github.com/ralph-loop/ralph/internal/suite"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// Stories tells which tests and files are whose: see proof.Tests.
type Stories interface {
	Of(ctx context.Context, run journal.Run, story, commit string) ([]string, error)
	Touched(ctx context.Context, run journal.Run, story, commit string) ([]string, error)
}

// tests are those of the stories of a run, as its repository has them.
type tests struct {
	*Clean
	Stories
	*reliance
}

// Touched are the files in spans that are not the loop's own.
func Touched(ctx context.Context, trusted *git.Trusted, run journal.Run, spans []git.Span) ([]string, error) {
	var files []string
	for _, span := range spans {
		paths, err := trusted.ChangedPaths(ctx, span)
		if err != nil {
			return nil, err
		}
		files = append(files, paths...)
	}
	own := append(books(run), memory(run).PromptFile())
	files = slices.DeleteFunc(files, func(name string) bool { return git.Ours(name) || slices.Contains(own, name) })
	slices.Sort(files)
	return slices.Compact(files), nil
}

// Testing are those of some files that are tests, serve them, or bring what they depend on.
func Testing(ctx context.Context, trusted *git.Trusted, run journal.Run, commit string, files []string) ([]string, error) {
	slices.Sort(files)
	files = slices.Compact(files)
	m := marks{ctx: ctx, trusted: trusted, span: git.Span{From: run.Base, To: commit}, paths: slices.DeleteFunc(slices.Clone(files), isTest)}
	speaks, own := m.either(paths.Speaks), books(run)
	return slices.DeleteFunc(files, func(name string) bool {
		return slices.Contains(own, name) || !isTest(name) && !paths.Needed(name) && !speaks[name]
	}), m.err
}

func isTest(name string) bool { return paths.Of(name) != paths.None }

// Onto puts files of a commit onto the base, or the base's own where they define the checks.
func (t tests) Onto(ctx context.Context, run journal.Run, commit string, files []string) (string, error) {
	stand, _, err := t.restore(ctx, run, commit)
	if err != nil {
		return "", err
	}
	trusted, err := t.Repository(ctx)
	if err != nil {
		return "", err
	}
	return trusted.Overlay(ctx, git.Overlay{Onto: run.Base, From: cmp.Or(stand, commit), Paths: files})
}

// Differing are the files in which two commits differ, but for the loop's own
// books, and what each is to the tests. One that a check names is a test, no matter what
// it is called, and so is data that a test of the base names.
func (t tests) Differing(ctx context.Context, run journal.Run, from, to string) ([]proof.Differing, error) {
	trusted, err := t.Repository(ctx)
	if err != nil {
		return nil, err
	}
	span := git.Span{From: from, To: to}
	all, err := trusted.Compare(ctx, span)
	if err != nil {
		return nil, err
	}
	m := marks{ctx: ctx, trusted: trusted, span: span, reliance: t.reliance}
	for _, d := range all {
		m.paths = append(m.paths, d.Path)
	}
	files, err := t.differing(ctx, run, &m, all)
	if err != nil {
		return nil, err
	}
	m.read(run.Base, files)
	m.inline(t.ran(run, from), files)
	return files, m.err
}

// ran returns the names of all tests that passed at a commit: the base, or one with a proof.
func (t tests) ran(run journal.Run, commit string) (names []string) {
	checks := run.BaseChecks
	for _, proof := range run.Proofs {
		if proof.Commit == commit {
			checks = proof.Checks
		}
	}
	for _, check := range checks {
		names = append(names, t.Told(check).Names(tally.Passed)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (tests) differing(ctx context.Context, run journal.Run, m *marks, all []git.Change) ([]proof.Differing, error) {
	speaks := m.either(paths.Speaks)
	asks, steers := m.fresh(paths.Asks), m.fresh(paths.Steers)
	own, defining := books(run), commands(run)
	named := defining.Named()
	defining.Touched = m.paths
	base, now := reader{ctx: ctx, trusted: m.trusted, commit: run.Base}, reader{ctx: ctx, trusted: m.trusted, commit: m.span.To}
	led, changes := checkdef.Paths(defining, base.file), checkdef.Changed(defining, base.file, now.file)
	m.checks = slices.Concat(named, led)
	has, err := m.tree(ctx, m.trusted, run.Base)
	if err != nil {
		return nil, err
	}
	var files []proof.Differing
	for _, d := range all {
		if slices.Contains(own, d.Path) {
			continue
		}
		change, partly := changes[d.Path]
		test := isTest(d.Path) || d.Was() && paths.Tracked(d.Path) != paths.None
		sure := slices.Contains(named, d.Path) || test && !paths.Shipped(d.Path) && (d.Was() || paths.Runs(d.Path))
		files = append(files, proof.Differing{
			Path: d.Path, Was: d.Was(),
			Tests: sure || test || speaks[d.Path] || linkedTest(has.links, d.Path), Doubtful: !sure,
			Steers:   test && steers[d.Path],
			Asks:     !test && paths.Code(d.Path) && asks[d.Path],
			Settings: !sure && !speaks[d.Path] && (partly && !change.Sure || !slices.Contains(led, d.Path) && m.settings(d)),
			Text:     change.Text,
		})
	}
	return files, errors.Join(base.err, now.err)
}

// settings tells whether a tool may read its settings from a file. One that only gets more
// dependencies is needed as it is.
func (m *marks) settings(d git.Change) bool {
	return paths.Settings(d.Path) && (!d.Was() || !m.depends(d.Path))
}

// marks finds words in files that two commits differ in.
type marks struct {
	*reliance
	ctx     context.Context //nolint:containedctx // lives as long as a call
	trusted *git.Trusted
	span    git.Span
	paths   []string
	checks  []string // files that define the checks
	err     error
}

func (m *marks) at(commit, expression string) map[string]bool {
	found, err := m.trusted.FilesMatching(m.ctx, commit, []string{expression}, m.paths)
	if err != nil {
		m.err = err
	}
	all := map[string]bool{}
	for _, name := range found {
		all[name] = true
	}
	return all
}

func (m *marks) either(expression string) map[string]bool {
	all := m.at(m.span.From, expression)
	maps.Copy(all, m.at(m.span.To, expression))
	return all
}

// fresh are the files that hold it now and did not before.
func (m *marks) fresh(expression string) map[string]bool {
	before := m.at(m.span.From, expression)
	now := m.at(m.span.To, expression)
	maps.DeleteFunc(now, func(name string, _ bool) bool { return before[name] })
	return now
}

// Reads tells whether a command, or a file that defines it at the base, names a variable.
func (t tests) Reads(ctx context.Context, run journal.Run, command, variable string) (bool, error) {
	trusted, err := t.Repository(ctx)
	if err != nil || strings.Contains(command, variable) {
		return err == nil, err
	}
	base := reader{ctx: ctx, trusted: trusted, commit: run.Base}
	reads := slices.ContainsFunc(checkdef.Paths(checkdef.CommandSet{Checks: []string{command}, Within: run.Policy.Subfolder}, base.file), func(name string) bool {
		return bytes.Contains(base.file(name), []byte(variable))
	})
	return reads, base.err
}

// Mixed tells whether a project may have vitest run test files in one process: a file
// of either commit says "isolate", or the change touches vite's settings.
func (t tests) Mixed(ctx context.Context, run journal.Run, from, to string) (bool, error) {
	trusted, err := t.Repository(ctx)
	if err != nil {
		return false, err
	}
	touched, err := trusted.ChangedPaths(ctx, git.Span{From: from, To: to})
	if err != nil || slices.ContainsFunc(touched, func(name string) bool { return strings.Contains(path.Base(name), "vite") }) {
		return true, err
	}
	for _, commit := range []string{run.Base, to} {
		if found, err := trusted.FilesMatching(ctx, commit, []string{`\bisolate\b`}, []string{""}); err != nil || len(found) > 0 {
			return true, err
		}
	}
	return false, nil
}

// How much of the change of a test file people are shown.
const (
	mostPatch  = 16 << 10
	mostOfFile = 40
	longLine   = 200
)

// Patch is the first lines of a file's change, without the head of the patch.
func (t tests) Patch(ctx context.Context, from, to, path string) ([]string, error) {
	trusted, err := t.Repository(ctx)
	if err != nil {
		return nil, err
	}
	text, _, err := trusted.Diff(ctx, git.Span{From: from, To: to}, mostPatch, path)
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

// Told is every test that a check told of, as the file beside its log has it. One
// that is not what the journal says it is tells nothing.
func (t tests) Told(check journal.CheckEnded) tally.Tally {
	if check.Tests == nil || check.Tests.All.Path == "" {
		return tally.Tally{}
	}
	text, err := t.Logs.Read(filepath.Base(check.Tests.All.Path), check.Tests.All.Digest)
	if err != nil {
		return tally.Tally{}
	}
	told := tally.Parse(text)
	told.Passed = max(told.Passed, check.Tests.Passed)
	return told
}

// memory is the folder with the loop's own files; books are those in which it keeps account.
func memory(run journal.Run) workspace.Memory {
	return workspace.Memory{Dir: cmp.Or(run.Policy.Memory, workspace.MemoryDir)}
}

func books(run journal.Run) []string { return memory(run).Files() }
