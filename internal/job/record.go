package job

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/publish"
	"github.com/ralph-loop/ralph/internal/view"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// record is the journal of a run with the files beside it, and who hears of it.
type record struct {
	people    Audience
	home      workspace.Run
	folder    workspace.Folder
	hard      <-chan struct{}
	passed    func(usd float64) *journal.EgressPassed // what passed through the sandbox since
	file      *workspace.OpenJournal
	writer    journal.Writer
	publisher *publish.Publisher
	hush      context.CancelFunc // ends all showing
}

// openRecord opens the journal, and begins to show it.
func (j *Job) openRecord(ctx context.Context, home workspace.Run) (*record, error) {
	file, entries, err := home.OpenJournalFile()
	if err != nil {
		return nil, err
	}
	r := &record{people: j.Audience, home: home, folder: j.Folder, hard: j.Hard, passed: j.Sandbox.Passed, file: file}
	r.writer = journal.Writer{Disk: file, Now: j.Now, Hide: j.Hide, Run: journal.Fold(journal.Run{}, entries...)}
	r.publisher = &publish.Publisher{Screens: j.Screens, Every: j.Every, Failed: func(err error) {
		j.Log("could not show the state of the run: " + fault.Told(err))
	}}
	ctx, r.hush = context.WithCancel(context.WithoutCancel(ctx))
	r.publisher.Start(ctx)
	return r, nil
}

// tell lets people know, in their console's way or as a line of log.
func (r *record) tell(run journal.Run, event journal.Event) {
	if r.people.Tell != nil {
		r.people.Tell(run, event)
		return
	}
	if line := view.Line(run, event); line != "" {
		r.people.Log(line)
	}
}

// Run is the run as the journal has it.
func (r *record) Run() journal.Run { return r.writer.Run }

// Append writes event down, and lets people know.
func (r *record) Append(event journal.Event) error {
	if r.ended() {
		return process.ErrStopped
	}
	if err := r.mend(); err != nil {
		return err
	}
	if err := r.account(event); err != nil {
		return err
	}
	if err := r.writer.Append(event); err != nil {
		return err
	}
	run := r.Run()
	r.tell(run, event)
	r.publisher.Notice(run)
	if _, ended := event.(journal.IterationEnded); ended && run.Policy.Done == policy.ByTag {
		return r.history(run)
	}
	return nil
}

// account tells what passed through the sandbox, before an iteration or the run
// ends.
func (r *record) account(event journal.Event) error {
	switch event.(type) { //nolint:gochecksumtype // nothing else ends anything
	case journal.IterationEnded, journal.RunStopped:
	default:
		return nil
	}
	passed := r.passed(r.Run().Spent())
	if passed == nil {
		return nil
	}
	if err := r.writer.Append(*passed); err != nil {
		return err
	}
	r.tell(r.Run(), *passed)
	return nil
}

// mend puts the journal back where it is gone, and says so in it.
func (r *record) mend() error {
	mended, err := r.file.Mend()
	if !mended || err != nil {
		return err
	}
	note := journal.Noted{
		What: "the run's journal was removed or changed, and was put back",
		Hint: "do not change .ralph during a run; git clean -x removes it",
	}
	if err := r.writer.Append(note); err != nil {
		return err
	}
	r.tell(r.Run(), note)
	return nil
}

// history writes down the iterations so far, for people and agents.
func (r *record) history(run journal.Run) error {
	file, err := r.folder.Create("progress.md")
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, view.Progress(run))
	return errors.Join(err, file.Close())
}

// close shows people how the run stands at last, and lets the journal go.
func (r *record) close() error {
	defer r.hush()
	if r.ended() {
		r.hush()
	}
	r.publisher.Close()
	return r.file.Close()
}

// ended tells whether the run has to end as if it was killed: the next job then
// finds it unchanged, and not broken by a step that could not be done.
func (r *record) ended() bool {
	select {
	case <-r.hard:
		return true
	default:
		return false
	}
}

// hidden is text without the secrets in it.
func (r *record) hidden(text string) string {
	if r.people.Hide == nil {
		return text
	}
	return string(r.people.Hide([]byte(text)))
}

// attach keeps a text beside the journal, and as little secret in it.
func (r *record) attach(name, text string) (journal.Attachment, error) {
	text = r.hidden(text)
	file, err := r.home.Create(name)
	if err != nil {
		return journal.Attachment{}, err
	}
	_, err = io.WriteString(file, text)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return journal.Attachment{}, fmt.Errorf("write %s: %w", name, err)
	}
	digest := sha256.Sum256([]byte(text))
	return journal.Attachment{Path: name, Digest: hex.EncodeToString(digest[:]), Size: int64(len(text))}, nil
}

// progressFile is where the progress log is kept beside the journal, out of
// the agent's reach.
const progressFile = "progress.txt"

// progress is the log as it was kept last, and as it begins where nothing was.
func (r *record) progress(run journal.Run) ([]byte, error) {
	if kept := r.keptLog(run); kept != "" {
		return []byte(kept), nil
	}
	return prompt.Progress(run)
}

// keptLog is the log as it was kept last; empty where it is not what it was.
func (r *record) keptLog(run journal.Run) string {
	text, err := workspace.Folder{Path: r.home.Path}.Read(progressFile, run.Log.Digest)
	if err != nil {
		return ""
	}
	return text
}
