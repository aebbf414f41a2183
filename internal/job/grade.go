package job

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/proof"
	paths "github.com/ralph-loop/ralph/internal/suite"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// suite are the tests of a run's stories, as its repository has them.
type suite struct{ *site }

// Of are the test files that the iterations on a story changed. What an earlier
// run left on the branch counts for a story that brought nothing else.
func (s suite) Of(ctx context.Context, run journal.Run, story, commit string) ([]string, error) {
	var files []string
	for _, it := range run.Iterations {
		if it.Story != story || it.Taken == nil || it.Taken.To == "" || it.Taken.To == it.Taken.From {
			continue
		}
		changed, err := s.trusted.Names(ctx, git.Span{From: it.Taken.From, To: it.Taken.To})
		if err != nil {
			return nil, err
		}
		files = append(files, changed...)
	}
	if len(files) == 0 && run.Start != run.Base {
		var err error
		if files, err = s.trusted.Names(ctx, git.Span{From: run.Base, To: run.Start}); err != nil {
			return nil, err
		}
	}
	return testing(ctx, s.trusted, run, commit, files)
}

// Touched are the files that the iterations on a story changed, and what an
// earlier run left on the branch. What was taken back again is no change.
func (s suite) Touched(ctx context.Context, run journal.Run, story, commit string) ([]string, error) {
	spans := []git.Span{{From: run.Base, To: run.Start}}
	for _, it := range run.Iterations {
		if it.Story == story && it.Taken != nil && it.Taken.To != "" {
			spans = append(spans, git.Span{From: it.Taken.From, To: it.Taken.To})
		}
	}
	spans = slices.DeleteFunc(spans, func(span git.Span) bool { return span.From == span.To })
	files, err := touched(ctx, s.trusted, run, spans)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	left, err := s.trusted.Touched(ctx, git.Span{From: spans[0].From, To: commit})
	return slices.DeleteFunc(files, func(name string) bool { return !slices.Contains(left, name) }), err
}

// touched are the files in spans that are not the loop's own.
func touched(ctx context.Context, trusted *git.Trusted, run journal.Run, spans []git.Span) ([]string, error) {
	var files []string
	for _, span := range spans {
		paths, err := trusted.Touched(ctx, span)
		if err != nil {
			return nil, err
		}
		files = append(files, paths...)
	}
	own := append(books(run), workspace.Memory{Dir: memory(run)}.PromptFile())
	files = slices.DeleteFunc(files, func(name string) bool { return git.Ours(name) || slices.Contains(own, name) })
	slices.Sort(files)
	return slices.Compact(files), nil
}

// testing are those of some files of a commit that are tests, serve them, or bring
// what they depend on.
func testing(ctx context.Context, trusted *git.Trusted, run journal.Run, commit string, files []string) ([]string, error) {
	slices.Sort(files)
	files = slices.Compact(files)
	m := marks{ctx: ctx, trusted: trusted, span: git.Span{From: run.Base, To: commit}, paths: slices.DeleteFunc(slices.Clone(files), isTest)}
	speaks, own := m.either(paths.Speaks), books(run)
	return slices.DeleteFunc(files, func(name string) bool {
		return slices.Contains(own, name) || !isTest(name) && !paths.Needed(name) && !speaks[name]
	}), m.err
}

func isTest(name string) bool { return paths.Of(name) != paths.None }

// Onto puts files onto the base as a commit has them, or as the base does where
// they define the checks.
func (s suite) Onto(ctx context.Context, run journal.Run, commit string, files []string) (string, error) {
	return onto(ctx, s.trusted, run, commit, files)
}

func onto(ctx context.Context, trusted *git.Trusted, run journal.Run, commit string, files []string) (string, error) {
	stand, _, err := restored(ctx, trusted, run, commit)
	if err != nil {
		return "", err
	}
	return trusted.Graft(ctx, git.Graft{Onto: run.Base, From: cmp.Or(stand, commit), Paths: files})
}

// Differing are the files in which two commits differ.
func (s suite) Differing(ctx context.Context, run journal.Run, from, to string) ([]proof.Differing, error) {
	return differing(ctx, s.trusted, run, git.Span{From: from, To: to})
}

// Patch is the change of one file.
func (s suite) Patch(ctx context.Context, from, to, path string) ([]string, error) {
	return changeOf(ctx, s.trusted, git.Span{From: from, To: to}, path)
}

// differing leaves out the loop's own books, and says what each file is to the
// tests. One that a check names is a test, whatever it is called.
func differing(ctx context.Context, trusted *git.Trusted, run journal.Run, span git.Span) ([]proof.Differing, error) {
	all, err := trusted.Differing(ctx, span)
	if err != nil {
		return nil, err
	}
	m := marks{ctx: ctx, trusted: trusted, span: span}
	for _, d := range all {
		m.paths = append(m.paths, d.Path)
	}
	speaks, asks, steers := m.either(paths.Speaks), m.fresh(paths.Asks), m.fresh(paths.Steers)
	own, named := books(run), strings.Fields(strings.Join(commands(run).Checks, " "))
	var files []proof.Differing
	for _, d := range all {
		if slices.Contains(own, d.Path) {
			continue
		}
		test := isTest(d.Path)
		files = append(files, proof.Differing{
			Path: d.Path, Was: d.Was,
			Tests:  test || speaks[d.Path] || slices.Contains(named, d.Path),
			Steers: test && steers[d.Path],
			Asks:   !test && paths.Code(d.Path) && !speaks[d.Path] && asks[d.Path],
		})
	}
	return files, m.err
}

// marks finds words in files that two commits differ in.
type marks struct {
	ctx     context.Context //nolint:containedctx // lives as long as a call
	trusted *git.Trusted
	span    git.Span
	paths   []string
	err     error
}

func (m *marks) at(commit, expression string) map[string]bool {
	found, err := m.trusted.Holding(m.ctx, commit, expression, m.paths)
	if err != nil {
		m.err = err
	}
	all := map[string]bool{}
	for _, name := range found {
		all[name] = true
	}
	return all
}

// either are the files that hold it before or after.
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

// How much of the change of a test file people are shown.
const (
	mostPatch  = 16 << 10
	mostOfFile = 40
	longLine   = 200
)

// changeOf is the first lines of a file's change, without the head of the patch.
func changeOf(ctx context.Context, trusted *git.Trusted, span git.Span, path string) ([]string, error) {
	text, _, err := trusted.Diff(ctx, span, mostPatch, path)
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

// Told reads the list beside the log.
func (s suite) Told(check journal.CheckEnded) tally.Tally { return list(s.Folder, check) }
