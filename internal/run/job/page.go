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
	source, err := recorded.Files{Home: s.home, Code: s.trusted, Hide: s.redacted}.Source(context.WithoutCancel(ctx))
	var made []byte
	if err == nil {
		made, err = source.HTML()
	}
	if err == nil {
		err = s.home.WriteFile(workspace.PageFile, made)
	}
	if err != nil {
		s.Log("could not write " + workspace.PageFile + ": " + err.Error())
	}
}

// ExistingFile returns the path of a run's file, or nothing if there is none.
func ExistingFile(home workspace.Run, name string) string {
	if home.ID == "" || !home.Exists(name) {
		return ""
	}
	return home.File(name)
}
