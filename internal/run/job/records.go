package job

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/run/publish"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// records writes the run's journal and files, and shows its state.
type records struct {
	*Job
	home        workspace.Run
	file        *workspace.OpenJournal
	writer      journal.Writer
	publisher   *publish.Publisher
	stopShowing context.CancelFunc // ends all showing
}

func (s *records) openJournal(ctx context.Context) error {
	file, entries, err := s.home.OpenJournalFile()
	if err != nil {
		return err
	}
	s.file = file
	s.writer = journal.Writer{
		Disk: file,
		Now:  s.Now,
		Hide: s.HideSecrets,
		Run:  journal.Fold(journal.Run{}, entries...),
	}
	s.publisher = &publish.Publisher{
		Screens:  s.Screens,
		Interval: s.Interval,
		Failed:   func(err error) { s.Log("could not show the state of the run: " + fault.Told(err)) },
	}
	ctx, s.stopShowing = context.WithCancel(context.WithoutCancel(ctx))
	s.publisher.Start(ctx)
	return nil
}

// write writes an event to the journal, and then to the console.
func (s *records) write(event journal.Event) error {
	if err := s.writer.Append(event); err != nil {
		return err
	}
	s.OnEvent(s.Run(), event)
	return nil
}

// Run returns the run as the journal has it.
func (s *records) Run() journal.Run { return s.writer.Run }

// Append records an event, and informs the audience.
func (s *records) Append(event journal.Event) error {
	if s.isAborted() && !mayFollowAbort(event) {
		return process.ErrStopped
	}
	if err := s.recordTraffic(event); err != nil {
		return err
	}
	if err := s.write(event); err != nil {
		return err
	}
	run := s.Run()
	if s.isAborted() {
		return nil
	}
	s.publisher.Update(run)
	if _, ended := event.(journal.IterationEnded); ended && run.Policy.Done == policy.ByTag {
		return s.writeProgress(run)
	}
	return nil
}

// mayFollowAbort reports whether an event says what an agent did until it was ended at once, or that the run ended so.
// Results of other steps are worth nothing then.
func mayFollowAbort(event journal.Event) bool {
	switch event.(type) { //nolint:gochecksumtype // no other event does
	case journal.AgentEnded, journal.EgressRefused, journal.Noted, journal.CancelAsked, journal.RunStopped:
		return true
	}
	return false
}

// recordTraffic is called before an iteration or the run ends.
func (s *records) recordTraffic(event journal.Event) error {
	switch event.(type) { //nolint:gochecksumtype // nothing else ends anything
	case journal.IterationEnded, journal.RunStopped:
	default:
		return nil
	}
	passed := s.Sandbox.Passed()
	if passed == nil {
		return nil
	}
	return s.write(*passed)
}

func (s *records) writeProgress(run journal.Run) error {
	file, err := s.home.CreateLinked(workspace.ProgressFile)
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, s.redacted(view.Progress(run))) // which takes colours away
	return errors.Join(err, file.Close())
}

func (s *records) close() error {
	defer s.stopShowing()
	if s.isAborted() {
		s.stopShowing()
	}
	s.publisher.Close()
	return s.file.Close()
}

// isAborted reports whether the run has to end at once: nothing is saved or shown any more.
func (s *records) isAborted() bool { return process.IsClosed(s.Abort) }

func (s *records) redacted(text string) string {
	if s.HideSecrets == nil {
		return text
	}
	return string(s.HideSecrets([]byte(text)))
}

func (s *records) saveText(name, text string) (journal.Attachment, error) {
	text = s.redacted(text)
	if err := s.home.WriteFile(name, []byte(text)); err != nil {
		return journal.Attachment{}, err
	}
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
	return journal.Attachment{Path: name, Digest: digest, Size: int64(len(text))}, nil
}
