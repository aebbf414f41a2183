package job

import (
	"context"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/run/recorded"
)

// writePage writes the report page if it is wanted. A cancelled job has no time for it.
func (s *activeRun) writePage(ctx context.Context) {
	run := s.Run()
	if !s.PageWanted || run.Stop == nil || run.Stop.Reason == policy.Cancelled || s.isAborted() {
		return
	}
	if err := s.renderPage(context.WithoutCancel(ctx)); err != nil {
		s.Log("could not write " + workspace.PageFile + ": " + err.Error())
	}
}

func (s *activeRun) renderPage(ctx context.Context) error {
	source, err := recorded.Files{Home: s.home, Code: s.trusted, Hide: s.redacted}.Source(ctx)
	if err != nil {
		return err
	}
	page, err := source.HTML()
	if err != nil {
		return err
	}
	return s.home.WriteFile(workspace.PageFile, page)
}

// ExistingFile returns the path of a run's file, or nothing if there is none.
func ExistingFile(home workspace.Run, name string) string {
	if home.ID == "" || !home.Exists(name) {
		return ""
	}
	return home.File(name)
}
