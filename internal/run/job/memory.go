package job

import (
	"cmp"
	"context"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/prompt"
	"github.com/ralph-loop/ralph/internal/git/workspace"
)

func memoryDir(run journal.Run) string { return cmp.Or(run.Policy.Memory, workspace.MemoryDir) }

func (s *trees) writeMemory(ctx context.Context, dir string, run journal.Run, p plan.Plan) error {
	if len(p.UserStories) == 0 {
		return nil
	}
	if err := (workspace.Memory{Tree: dir, Dir: memoryDir(run)}).Write(p, s.progressLog(run)); err != nil {
		return err
	}
	return s.Sandbox.Lend(ctx, dir, memoryDir(run))
}

// joinPlan keeps the stories that people added to the PRD in their own tree, in a run or before it resumed: the plan is
// read after each iteration.
func (s *trees) joinPlan(dir string, run journal.Run, emit emit) plan.Plan {
	if s.UserTree == nil && s.Box == nil {
		return run.Plan
	}
	if len(run.Plan.UserStories) == 0 {
		return run.Plan
	}
	if s.Box != nil {
		dir = s.Box.Top
	}
	memory := workspace.Memory{Tree: dir, Dir: memoryDir(run)}
	p, rest := memory.Joined(run.Plan)
	if len(rest) > 0 {
		emit(journal.Noted{
			What: "a run keeps its plan, so changes of the PRD were put back: " + journal.ShortList(rest),
			Hint: "make them when the run has ended, and start a new one" + kept(memory, s.home),
		})
	}
	return p
}

// kept keeps a PRD that ralph writes over in the user's own tree, and says where: people may have edited it.
func kept(memory workspace.Memory, home workspace.Run) string {
	name, err := memory.Keep(home)
	if err != nil { // it is too large, or no file
		return ""
	}
	return "; the file as it was: " + home.File(name)
}

// saveLog restores entries that the agent removed. An unreadable log counts as empty.
func (s *trees) saveLog(
	ctx context.Context,
	dir string,
	run journal.Run,
) (log journal.Attachment, cut bool, err error) {
	if len(run.Plan.UserStories) == 0 {
		return journal.Attachment{}, false, nil
	}
	memory := workspace.Memory{Tree: dir, Dir: memoryDir(run)}
	found, err := memory.Log()
	if err != nil {
		found = ""
	}
	text, cut := plan.MergeLog(s.savedLog(run), s.redacted(found))
	if cut {
		if err := memory.WriteLog(text); err != nil {
			return journal.Attachment{}, false, err
		}
		if err := s.Sandbox.Lend(ctx, dir, memory.Dir); err != nil {
			return journal.Attachment{}, false, err
		}
	}
	log, err = s.saveText(progressFile, text)
	return log, cut, err
}

// prepareLog accepts people's edits before the first iteration since the start or a resume.
func (s *trees) prepareLog(ctx context.Context, dir string, run journal.Run, emit emit) (journal.Attachment, error) {
	_, open := run.OpenIteration()
	if !open && len(run.Iterations) == run.Clock.Granted.Iterations {
		run.Box.Log = journal.Attachment{}
	}
	log, cut, err := s.saveLog(ctx, dir, run)
	if err != nil {
		return log, err
	}
	if cut {
		emit(journal.Noted{What: "put back entries of earlier iterations in the progress log"})
	}
	return log, nil
}

const progressFile = "progress.txt"

func (s *records) progressLog(run journal.Run) []byte {
	return []byte(cmp.Or(s.savedLog(run), prompt.ProgressLog(run)))
}

// savedLog returns the saved progress log. It is empty if the file was changed.
func (s *records) savedLog(run journal.Run) string {
	text, err := workspace.Folder{Path: s.home.Path}.Read(progressFile, run.Box.Log.Digest)
	if err != nil {
		return ""
	}
	return text
}
