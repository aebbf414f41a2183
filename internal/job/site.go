package job

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/publish"
	"github.com/ralph-loop/ralph/internal/view"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// site is the ground of one run: its folder, its journal and its trees.
type site struct {
	*Job
	home      workspace.Run
	file      *os.File
	writer    journal.Writer
	trusted   *git.Trusted
	publisher *publish.Publisher
}

// open fetches the code and opens the journal.
func (j *Job) open(ctx context.Context, home workspace.Run, base, branch string) (*site, error) {
	s := &site{Job: j, home: home}
	for _, dir := range []string{s.work(), j.Git.Home} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("make the run's folders: %w", err)
		}
	}
	trusted, err := j.Origin.Fetch(ctx, filepath.Join(s.work(), "trusted.git"), base, branch)
	if err != nil {
		return nil, err
	}
	file, entries, err := home.OpenJournal()
	if err != nil {
		return nil, err
	}
	s.file, s.trusted = file, trusted
	s.writer = journal.Writer{Disk: file, Now: j.Now, Hide: j.Hide, Run: journal.Fold(journal.Run{}, entries...)}
	s.publisher = &publish.Publisher{Screens: j.Screens, Every: j.Every, Failed: func(err error) {
		j.Log("could not show how the run stands: " + err.Error())
	}}
	s.publisher.Start(context.WithoutCancel(ctx))
	return s, nil
}

// close shows people how the run stands at last, and lets the journal go.
func (s *site) close() error {
	s.publisher.Close()
	return s.file.Close()
}

// work is the folder of the trees; it goes when the run's work is elsewhere.
func (s *site) work() string { return s.home.File("work") }

// spent tells whether nothing in the trees would be missed.
func (s *site) spent() bool {
	run := s.Run()
	return run.Stop != nil && !run.Dirty && (run.Head == run.Start || run.Pushed == run.Head)
}

// Run is the run as the journal has it.
func (s *site) Run() journal.Run { return s.writer.Run }

// Append writes event down, and lets people know.
func (s *site) Append(event journal.Event) error {
	if err := s.writer.Append(event); err != nil {
		return err
	}
	run := s.Run()
	if line := view.Line(run, event); line != "" {
		s.Log(line)
	}
	s.publisher.Notice(run)
	return nil
}

// begin writes the first event: where the work starts, and by what rules.
func (s *site) begin(ctx context.Context, asked Asked) error {
	base, err := s.trusted.Resolve(ctx, "refs/heads/"+asked.BaseRef)
	if err != nil {
		return err
	}
	start, err := s.start(ctx, asked.Branch, base)
	if err != nil {
		return err
	}
	err = s.Append(journal.RunBegan{
		Run: asked.ID, Policy: asked.Policy, Task: asked.Task, Plan: asked.Plan, Source: asked.Source,
		Branch: asked.Branch, BaseRef: asked.BaseRef, Base: base, Start: start, Level: asked.Level, Links: asked.Links,
	})
	for _, note := range asked.Notes {
		err = errors.Join(err, s.Append(note))
	}
	return err
}

// start is where work begins: at what an earlier run left on the branch, so
// that nothing has to be forced over it, else at the base.
func (s *site) start(ctx context.Context, branch, base string) (string, error) {
	left, err := s.trusted.Resolve(ctx, "refs/heads/"+branch)
	if errors.Is(err, git.ErrNotFound) {
		return base, nil
	}
	return left, err
}

// tree is the agent's, grown where it is not there yet. It is grown under
// another name first, so that one cut off half way is never taken for whole.
func (s *site) tree(ctx context.Context) (*git.Tree, error) {
	dir := filepath.Join(s.work(), "tree")
	if _, err := os.Stat(dir); err == nil {
		return s.trusted.OpenTree(dir)
	}
	young := dir + ".new"
	if err := os.RemoveAll(young); err != nil {
		return nil, fmt.Errorf("clear %s: %w", young, err)
	}
	run := s.Run()
	_, err := s.trusted.Grow(ctx, git.Plot{Dir: young, Branch: run.Branch, SHA: run.Head, Exclude: []string{"/" + workspace.MemoryDir + "/"}})
	if err != nil {
		return nil, err
	}
	if err := os.Rename(young, dir); err != nil {
		return nil, fmt.Errorf("move the agent's tree into place: %w", err)
	}
	return s.trusted.OpenTree(dir)
}

// checkout lends a clean checkout of commit.
func (s *site) checkout(ctx context.Context, commit string) (string, func(), error) {
	dir := filepath.Join(s.work(), "clean")
	if err := os.RemoveAll(dir); err != nil {
		return "", nil, fmt.Errorf("clear %s: %w", dir, err)
	}
	if _, err := s.trusted.Grow(ctx, git.Plot{Dir: dir, SHA: commit}); err != nil {
		return "", nil, err
	}
	return dir, func() {
		if err := os.RemoveAll(dir); err != nil {
			s.Log("could not clear the clean checkout: " + err.Error())
		}
	}, nil
}
