package job

import (
	"context"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// progressFile is where the progress log is kept beside the journal, out of
// the agent's reach.
const progressFile = "progress.txt"

// progress is the log as it was kept last, and as it begins where nothing was.
func (s *site) progress(run journal.Run) ([]byte, error) {
	if kept := s.keptLog(run); kept != "" {
		return []byte(kept), nil
	}
	return prompt.Progress(run)
}

// keptLog is the log as it was kept last; empty where it is not what it was.
func (s *site) keptLog(run journal.Run) string {
	text, err := workspace.Folder{Path: s.home.Path}.Read(progressFile, run.Log.Digest)
	if err != nil {
		return ""
	}
	return text
}

// keepLog takes over what the agent made of the log, and puts back what it lost.
// What cannot be read says nothing.
func (s *site) keepLog(ctx context.Context, dir string, run journal.Run) (log journal.Attachment, cut bool, err error) {
	if len(run.Plan.UserStories) == 0 {
		return journal.Attachment{}, false, nil
	}
	memory := workspace.Memory{Tree: dir, Dir: memory(run)}
	found, err := memory.Log()
	if err != nil {
		found = ""
	}
	text, cut := plan.MergeLog(s.keptLog(run), s.hidden(found))
	if cut {
		if err := memory.PutLog(text); err != nil {
			return journal.Attachment{}, false, err
		}
		if err := s.Sandbox.Lend(ctx, dir, memory.Dir); err != nil {
			return journal.Attachment{}, false, err
		}
	}
	log, err = s.attach(progressFile, text)
	return log, cut, err
}

// layLog keeps the log as the agent is to find it. Where people may have had a
// hand in it, before the first iteration since the run was begun or gone on with,
// it counts as it stands.
func (s *site) layLog(ctx context.Context, dir string, run journal.Run, emit emit) (journal.Attachment, error) {
	if _, again := run.Open(); !again && len(run.Iterations) == run.Granted.Iterations {
		run.Log = journal.Attachment{}
	}
	log, cut, err := s.keepLog(ctx, dir, run)
	if cut && err == nil {
		emit(journal.Noted{What: "what earlier iterations wrote in the progress log was gone, and was put back"})
	}
	return log, err
}
