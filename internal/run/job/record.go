package job

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/prompt"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/run/publish"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// Audience is who is informed about the run.
type Audience struct {
	Screens  []publish.Screen
	Interval time.Duration                     // the least time between two updates of a screen
	OnEvent  func(journal.Run, journal.Event)  // for a console
	Log      func(line string)                 // prints a line for people
	OnCheck  func(kind string, _ policy.Check) // called before each check or command of setup; nil: not called
}

// record writes the run's journal and files, and shows its state.
type record struct {
	machine  *Machine
	audience Audience
	abort    <-chan struct{}
	home     workspace.Run

	file        *workspace.OpenJournal
	writer      journal.Writer
	publisher   *publish.Publisher
	stopShowing context.CancelFunc // ends all showing
}

func (r *record) open(ctx context.Context) error {
	file, entries, err := r.home.OpenJournalFile()
	if err != nil {
		return err
	}
	r.file = file
	r.writer = journal.Writer{
		Disk: file,
		Now:  r.machine.Now,
		Hide: r.machine.Secrets.Bytes,
		Run:  journal.Fold(journal.Run{}, entries...),
	}
	r.publisher = &publish.Publisher{
		Screens:  r.audience.Screens,
		Interval: r.audience.Interval,
		Failed:   func(err error) { r.log("could not show the state of the run: " + fault.Told(err)) },
	}
	ctx, r.stopShowing = context.WithCancel(context.WithoutCancel(ctx))
	r.publisher.Start(ctx)
	return nil
}

// write writes an event to the journal, and then to the console.
func (r *record) write(event journal.Event) error {
	if err := r.writer.Append(event); err != nil {
		return err
	}
	r.audience.OnEvent(r.Run(), event)
	return nil
}

// Run returns the run as the journal has it.
func (r *record) Run() journal.Run { return r.writer.Run }

// Append records an event, and informs the audience.
func (r *record) Append(event journal.Event) error {
	if r.isAborted() && !mayFollowAbort(event) {
		return process.ErrStopped
	}
	if err := r.recordTraffic(event); err != nil {
		return err
	}
	if err := r.write(event); err != nil {
		return err
	}
	run := r.Run()
	if r.isAborted() {
		return nil
	}
	r.publisher.Update(run)
	if _, ended := event.(journal.IterationEnded); ended && run.Policy.Done == policy.ByTag {
		return r.writeProgress(run)
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
func (r *record) recordTraffic(event journal.Event) error {
	switch event.(type) { //nolint:gochecksumtype // nothing else ends anything
	case journal.IterationEnded, journal.RunStopped:
	default:
		return nil
	}
	passed := r.machine.Sandbox.Passed()
	if passed == nil {
		return nil
	}
	return r.write(*passed)
}

func (r *record) writeProgress(run journal.Run) error {
	file, err := r.home.CreateLinked(workspace.ProgressFile)
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, r.redacted(view.Progress(run))) // which takes colours away
	return errors.Join(err, file.Close())
}

func (r *record) close() error {
	defer r.stopShowing()
	if r.isAborted() {
		r.stopShowing()
	}
	r.publisher.Close()
	return r.file.Close()
}

// isAborted reports whether the run has to end at once: nothing is saved or shown any more.
func (r *record) isAborted() bool { return process.IsClosed(r.abort) }

// log prints a line for people.
func (r *record) log(line string) { r.audience.Log(line) }

func (r *record) redacted(text string) string { return r.machine.Secrets.String(text) }

func (r *record) saveText(name, text string) (journal.Attachment, error) {
	text = r.redacted(text)
	if err := r.home.WriteFile(name, []byte(text)); err != nil {
		return journal.Attachment{}, err
	}
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
	return journal.Attachment{Path: name, Digest: digest, Size: int64(len(text))}, nil
}

const progressFile = "progress.txt"

func (r *record) progressLog(run journal.Run) []byte {
	return []byte(cmp.Or(r.savedLog(run), prompt.ProgressLog(run)))
}

// savedLog returns the saved progress log. It is empty if the file was changed.
func (r *record) savedLog(run journal.Run) string {
	text, err := workspace.Folder{Path: r.home.Path}.Read(progressFile, run.Box.Log.Digest)
	if err != nil {
		return ""
	}
	return text
}
