package job

import (
	"cmp"
	"context"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/git/workspace"
)

// memory has the loop's files in the agent's tree: the PRD and the progress log.
type memory struct {
	record *record
	tree   *agentTree
}

func memoryDir(run journal.Run) string { return cmp.Or(run.Policy.Memory, workspace.MemoryDir) }

func (m *memory) writeMemory(ctx context.Context, dir string, run journal.Run, p plan.Plan) error {
	if len(p.UserStories) == 0 {
		return nil
	}
	if err := (workspace.Memory{Tree: dir, Dir: memoryDir(run)}).Write(p, m.record.progressLog(run)); err != nil {
		return err
	}
	return m.tree.machine.Sandbox.Lend(ctx, dir, memoryDir(run))
}

// joinPlan keeps the stories that people added to the PRD in their own tree, in a run or before it resumed: the plan is
// read after each iteration.
func (m *memory) joinPlan(dir string, run journal.Run, emit emit) plan.Plan {
	if m.tree.code.UserTree == nil && m.tree.code.Box == nil {
		return run.Plan
	}
	if len(run.Plan.UserStories) == 0 {
		return run.Plan
	}
	if m.tree.code.Box != nil {
		dir = m.tree.code.Box.Top
	}
	memory := workspace.Memory{Tree: dir, Dir: memoryDir(run)}
	p, rest := memory.Joined(run.Plan)
	if len(rest) > 0 {
		emit(journal.Noted{
			What: "a run keeps its plan, so changes of the PRD were undone: " + journal.ShortList(rest),
			Hint: "make them when the run has ended, and start a new one" + kept(memory, m.record.home),
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
func (m *memory) saveLog(
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
	text, cut := plan.MergeLog(m.record.savedLog(run), m.record.redacted(found))
	if cut {
		if err := memory.WriteLog(text); err != nil {
			return journal.Attachment{}, false, err
		}
		if err := m.tree.machine.Sandbox.Lend(ctx, dir, memory.Dir); err != nil {
			return journal.Attachment{}, false, err
		}
	}
	log, err = m.record.saveText(progressFile, text)
	return log, cut, err
}

// prepareLog accepts people's edits before the first iteration since the start or a resume.
func (m *memory) prepareLog(ctx context.Context, dir string, run journal.Run, emit emit) (journal.Attachment, error) {
	_, open := run.OpenIteration()
	if !open && len(run.Iterations) == run.Clock.Granted.Iterations {
		run.Box.Log = journal.Attachment{}
	}
	log, cut, err := m.saveLog(ctx, dir, run)
	if err != nil {
		return log, err
	}
	if cut {
		emit(journal.Noted{What: "restored entries of earlier iterations in the progress log"})
	}
	return log, nil
}
