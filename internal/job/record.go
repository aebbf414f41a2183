package job

import (
	"errors"
	"io"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/view"
)

// tell lets people know, in their console's way or as a line of log.
func (s *site) tell(run journal.Run, event journal.Event) {
	if s.Tell != nil {
		s.Tell(run, event)
		return
	}
	if line := view.Line(run, event); line != "" {
		s.Log(line)
	}
}

// Run is the run as the journal has it.
func (s *site) Run() journal.Run { return s.writer.Run }

// Append writes event down, and lets people know.
func (s *site) Append(event journal.Event) error {
	if s.ended() {
		return process.ErrStopped
	}
	if err := s.mend(); err != nil {
		return err
	}
	if err := s.account(event); err != nil {
		return err
	}
	if err := s.writer.Append(event); err != nil {
		return err
	}
	run := s.Run()
	s.tell(run, event)
	s.publisher.Notice(run)
	if _, ended := event.(journal.IterationEnded); ended && run.Policy.Done == policy.ByTag {
		return s.history(run)
	}
	return nil
}

// account tells what passed through the sandbox, before an iteration or the run
// ends.
func (s *site) account(event journal.Event) error {
	switch event.(type) { //nolint:gochecksumtype // nothing else ends anything
	case journal.IterationEnded, journal.RunStopped:
	default:
		return nil
	}
	passed := s.Sandbox.Passed(s.Run().Spent())
	if passed == nil {
		return nil
	}
	if err := s.writer.Append(*passed); err != nil {
		return err
	}
	s.tell(s.Run(), *passed)
	return nil
}

// mend puts the journal back where it is gone, and says so in it.
func (s *site) mend() error {
	mended, err := s.ledger.Mend()
	if !mended || err != nil {
		return err
	}
	note := journal.Noted{
		What: "somebody has removed or changed the run's journal, and it was put back",
		Hint: "leave .ralph alone while a run goes on; git clean -x takes it away",
	}
	if err := s.writer.Append(note); err != nil {
		return err
	}
	s.tell(s.Run(), note)
	return nil
}

// history writes down the iterations so far, for people and agents.
func (s *site) history(run journal.Run) error {
	file, err := s.Folder.Create("progress.md")
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, view.Progress(run))
	return errors.Join(err, file.Close())
}
