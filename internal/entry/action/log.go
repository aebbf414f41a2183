package action

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/sethvargo/go-githubactions"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/redact"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// jobLog writes the job's log, its summary and its outputs. It also cleans what ralph writes elsewhere.
type jobLog struct {
	out         io.Writer
	plain       bool // out is read by people, and by no runner: it gets no groups or annotations
	toolkit     *githubactions.Action
	summaryPath string
	outputPath  string
	secrets     *redact.Redactor
	rules       trigger.Rules // whose label and phrase ralph's own text names
}

func newLog(a Action) *jobLog {
	return &jobLog{
		out:         a.Out,
		plain:       a.Plain,
		toolkit:     githubactions.New(githubactions.WithGetenv(a.Getenv), githubactions.WithWriter(unfailing{a.Out})),
		summaryPath: a.Getenv("GITHUB_STEP_SUMMARY"),
		outputPath:  a.Getenv("GITHUB_OUTPUT"),
	}
}

// unfailing ignores that nothing reads the log, for which the toolkit would panic: a run
// without its runner still saves its work.
type unfailing struct{ io.Writer }

func (u unfailing) Write(text []byte) (int, error) {
	_, _ = u.Writer.Write(text)
	return len(text), nil
}

// mask has the runner mask secrets, line by line as it prints them.
func (l *jobLog) mask(secrets []string) {
	for _, secret := range secrets {
		for _, line := range redact.Lines(secret) {
			l.toolkit.AddMask(line)
		}
	}
}

// say writes lines to the log; none for an empty text. It hides secrets, and lets nothing command the runner.
func (l *jobLog) say(text string) {
	for line := range strings.Lines(l.secrets.String(text)) {
		fmt.Fprintln(l.out, clean.LogLine(strings.TrimSuffix(line, "\n")))
	}
}

// sayError logs what went wrong where the job goes on all the same.
func (l *jobLog) sayError(err error) {
	if err != nil {
		l.say(fault.Told(err))
	}
}

// event writes an event to the job's log. Each iteration is a group, and failures of the last
// one become annotations. A run makes no other commands to the runner.
func (l *jobLog) event(run journal.Run, event journal.Event) {
	line := view.Line(run, event)
	if l.plain {
		l.say(line)
		return
	}
	if _, begins := event.(journal.IterationBegan); begins {
		l.toolkit.Group(l.text(line))
		return
	}
	l.say(line)
	switch event.(type) { //nolint:gochecksumtype // nothing else ends a group
	case journal.IterationEnded:
		l.toolkit.EndGroup()
	case journal.RunStopped:
		if _, open := run.OpenIteration(); open {
			l.toolkit.EndGroup()
		}
		for _, a := range view.Annotations(run) {
			l.annotate(a)
		}
	}
}

func (l *jobLog) annotate(a view.Annotation) {
	fields := githubactions.CommandProperties{"title": l.text(a.Title)}
	say := l.toolkit.WithFieldsMap(fields).Errorf
	if a.Notice {
		say = l.toolkit.WithFieldsMap(fields).Noticef
	}
	say("%s", l.text(a.Text))
}

// text is text that can neither command the runner nor give a secret away.
func (l *jobLog) text(text string) string { return clean.LogLine(l.secrets.String(text)) }

// clean is for ralph's own text on GitHub: without secrets, with the repository's label and phrase.
func (l *jobLog) clean(text string) string { return l.secrets.String(l.rules.WithPhrases(text)) }

// quote removes hidden marks from foreign text, as ralph finds its own comments by them.
func (l *jobLog) quote(text string) string {
	return strings.ReplaceAll(clean.Lines(l.secrets.String(text)), "<!--", "<! --")
}

func (l *jobLog) errorText(what string, err error) string {
	text := "**" + what + ":** " + l.quote(err.Error())
	if hint := fault.Hint(err); hint != "" {
		text += "\n\n**Next:** " + l.quote(hint)
	}
	return text
}

const notBegun = "ralph could not begin"

// reportError shows an error that is in no run's record, in the job's log and summary.
func (l *jobLog) reportError(run string, err error) {
	if l.plain {
		return
	}
	title := notBegun
	if run != "" {
		title = "ralph failed"
	}
	l.annotate(view.Annotation{Title: title, Text: strings.ReplaceAll(fault.Told(err), "\n", "; ")})
	if run != "" {
		return
	}
	if err := l.writeSummary(l.errorText(notBegun, err) + "\n"); err != nil {
		l.say(err.Error())
	}
}

// writeSummary writes the page of the job.
func (l *jobLog) writeSummary(text string) error {
	if l.summaryPath == "" {
		return nil
	}
	err := os.WriteFile(l.summaryPath, []byte(l.clean(text)), 0o644) //nolint:forbidigo // the runner's own file
	if err != nil {
		return fmt.Errorf("write the job's summary: %w", err)
	}
	return nil
}

// writeOutputs writes the outputs for later steps of the job. It recovers from a panic of the toolkit, whose file may
// not be writable.
func (l *jobLog) writeOutputs(values [][2]string) {
	defer func() {
		if problem := recover(); problem != nil {
			l.say(fmt.Sprintf("the job's outputs could not be written: %v", problem))
		}
	}()
	if l.outputPath == "" {
		return // the toolkit would print them as commands that runners take no more
	}
	for _, value := range values {
		l.toolkit.SetOutput(value[0], strings.ReplaceAll(l.secrets.String(value[1]), "\r", ""))
	}
}
