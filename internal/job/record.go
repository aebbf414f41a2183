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

// recorder writes a run's journal and the files beside it, and informs the console.
type recorder struct {
	audience    Audience
	home        workspace.Run
	folder      workspace.Folder
	abort       <-chan struct{}
	traffic     func(usd float64) *journal.EgressPassed // through the sandbox since the last call
	file        *workspace.OpenJournal
	writer      journal.Writer
	publisher   *publish.Publisher
	stopShowing context.CancelFunc // ends all showing
}

func (j *Job) openRecord(ctx context.Context, home workspace.Run) (*recorder, error) {
	file, entries, err := home.OpenJournalFile()
	if err != nil {
		return nil, err
	}
	r := &recorder{audience: j.Audience, home: home, folder: j.Folder, abort: j.Abort, traffic: j.Sandbox.Passed, file: file}
	r.writer = journal.Writer{Disk: file, Now: j.Now, Hide: j.HideSecrets, Run: journal.Fold(journal.Run{}, entries...)}
	r.publisher = &publish.Publisher{Screens: j.Screens, Interval: j.Interval, Failed: func(err error) {
		j.Log("could not show the state of the run: " + fault.Told(err))
	}}
	ctx, r.stopShowing = context.WithCancel(context.WithoutCancel(ctx))
	r.publisher.Start(ctx)
	return r, nil
}

func (r *recorder) notify(run journal.Run, event journal.Event) {
	if r.audience.OnEvent != nil {
		r.audience.OnEvent(run, event)
		return
	}
	if line := view.Line(run, event); line != "" {
		r.audience.Log(line)
	}
}

// Run returns the run as the journal has it.
func (r *recorder) Run() journal.Run { return r.writer.Run }

// Append records an event, and informs the audience.
func (r *recorder) Append(event journal.Event) error {
	if r.isAborted() {
		return process.ErrStopped
	}
	if err := r.repairJournal(); err != nil {
		return err
	}
	if err := r.recordTraffic(event); err != nil {
		return err
	}
	if err := r.writer.Append(event); err != nil {
		return err
	}
	run := r.Run()
	r.notify(run, event)
	r.publisher.Update(run)
	if _, ended := event.(journal.IterationEnded); ended && run.Policy.Done == policy.ByTag {
		return r.writeProgress(run)
	}
	return nil
}

// recordTraffic is called before an iteration or the run ends.
func (r *recorder) recordTraffic(event journal.Event) error {
	switch event.(type) { //nolint:gochecksumtype // nothing else ends anything
	case journal.IterationEnded, journal.RunStopped:
	default:
		return nil
	}
	passed := r.traffic(r.Run().SpentUSD())
	if passed == nil {
		return nil
	}
	if err := r.writer.Append(*passed); err != nil {
		return err
	}
	r.notify(r.Run(), *passed)
	return nil
}

func (r *recorder) repairJournal() error {
	mended, err := r.file.Restore()
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
	r.notify(r.Run(), note)
	return nil
}

func (r *recorder) writeProgress(run journal.Run) error {
	file, err := r.folder.Create("progress.md")
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, view.Progress(run))
	return errors.Join(err, file.Close())
}

func (r *recorder) close() error {
	defer r.stopShowing()
	if r.isAborted() {
		r.stopShowing()
	}
	r.publisher.Close()
	return r.file.Close()
}

// isAborted reports whether the run has to end as if killed: the next job then finds it unchanged.
func (r *recorder) isAborted() bool {
	select {
	case <-r.abort:
		return true
	default:
		return false
	}
}

func (r *recorder) redacted(text string) string {
	if r.audience.HideSecrets == nil {
		return text
	}
	return string(r.audience.HideSecrets([]byte(text)))
}

func (r *recorder) saveText(name, text string) (journal.Attachment, error) {
	text = r.redacted(text)
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

const progressFile = "progress.txt"

func (r *recorder) progressLog(run journal.Run) ([]byte, error) {
	if kept := r.savedLog(run); kept != "" {
		return []byte(kept), nil
	}
	return prompt.ProgressLog(run)
}

// savedLog returns the saved progress log. It is empty if the file was changed.
func (r *recorder) savedLog(run journal.Run) string {
	text, err := workspace.Folder{Path: r.home.Path}.Read(progressFile, run.Log.Digest)
	if err != nil {
		return ""
	}
	return text
}
