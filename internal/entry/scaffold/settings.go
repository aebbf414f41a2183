package scaffold

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/redact"
	"github.com/ralph-loop/ralph/internal/lib/shell"
)

// Ask asks at a terminal for the project's settings and writes them, all or nothing. With Yes it takes what it would
// propose, and overwrites nothing.
func (f Files) Ask(ctx context.Context, at Terminal) error {
	err := f.ask(ctx, at)
	if errors.Is(err, io.EOF) || errors.Is(err, errInterrupted) {
		return &fault.Fault{
			What: "interrupted: nothing was written",
			Fix:  "start again: ralph init",
			Exit: fault.ExitInterrupted,
		}
	}
	return err
}

func (f Files) ask(ctx context.Context, at Terminal) error {
	d, err := f.dialog(ctx, at)
	if err != nil {
		return err
	}
	return f.converse(ctx, d)
}

// dialog returns the dialog with the person at the terminal. With Yes it asks nothing, and each answer is empty.
func (f Files) dialog(ctx context.Context, at Terminal) (dialog, error) {
	if !f.Yes {
		return at.talk(ctx)
	}
	files, _, err := f.existing()
	if err != nil {
		return dialog{}, err
	}
	if len(files) > 0 {
		return dialog{}, fault.Usage(workspace.SettingsFile+" already exists",
			"remove it first, or run ralph init in a terminal", nil)
	}
	return dialog{at.Out, func(string) (string, error) { return "", nil }}, nil
}

var errInterrupted = errors.New("interrupted by a signal")

func (f Files) converse(ctx context.Context, d dialog) error {
	allowed, err := f.mayWrite(d)
	if err != nil || !allowed {
		return err
	}
	answers, err := f.interview(d)
	if err != nil {
		return err
	}
	data, err := render(answers)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errInterrupted
	}
	if err := workspace.WriteSettings(f.ProjectDir, data); err != nil {
		return err
	}
	task := "Make the tests pass, and add one that is missing. " +
		"Then answer <response>" + answers.CompletionResponse + "</response>."
	_, err = fmt.Fprintf(d.out, "\nSettings written to %s\n\n"+
		"Next:\n  ralph doctor --checks   # try the guardrails\n  ralph run -p %s\n",
		workspace.SettingsFile, shell.Quote(task))
	return err
}

// mayWrite shows existing settings and asks whether to overwrite them.
func (f Files) mayWrite(d dialog) (bool, error) {
	files, loaded, err := f.existing()
	if err != nil {
		return false, err
	}
	if len(files) == 0 {
		return true, nil
	}
	merged, err := config.ReadSettings(files...)
	if err != nil {
		return false, err
	}
	text, err := merged.Show(redact.New())
	if err != nil {
		return false, err
	}
	if _, err := fmt.Fprintf(d.out, "%sLoaded from %s\n", text, loaded); err != nil {
		return false, err
	}
	return d.yes("Overwrite? (y/N): ", false)
}

// existing returns the project's settings, and a name for them. An overlay alone does not count.
func (f Files) existing() (files []config.File, name string, err error) {
	files, err = config.ProjectFiles(f.ProjectDir, workspace.ReadSettings)
	if err != nil {
		return nil, "", err
	}
	if len(files) == 0 || files[0].Name != workspace.SettingsFile {
		return nil, "", nil
	}
	name = workspace.SettingsFile
	if len(files) > 1 {
		name += " (with local overlay from settings.local.json)"
	}
	return files, name, nil
}

// render returns the file, after reading it as a run will: what cannot be read back is not written.
func render(answers config.Settings) ([]byte, error) {
	data, err := answers.Marshal()
	if err != nil {
		return nil, err
	}
	_, err = config.ReadSettings(config.File{Name: "the answers", Data: data})
	return data, err
}
