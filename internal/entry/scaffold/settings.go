package scaffold

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/shell"
	"github.com/ralph-loop/ralph/internal/proof/survey"
)

// Ask asks at a terminal for the project's settings and writes them, all or nothing. With Yes it takes what it would
// propose, and overwrites nothing.
func (f Files) Ask(ctx context.Context, at Terminal) error {
	err := f.ask(ctx, at)
	isLeft := errors.Is(err, io.EOF) || errors.Is(err, context.Canceled)
	if isLeft {
		return &fault.Fault{
			What: "interrupted: nothing was written",
			Fix:  "start again: ralph init",
			Exit: fault.ExitInterrupted,
		}
	}
	return err
}

func (f Files) ask(ctx context.Context, at Terminal) error {
	existing, err := config.ProjectFiles(f.ProjectDir, workspace.ReadSettings)
	if err != nil {
		return err
	}
	exists := len(existing) > 0 && existing[0].Name == workspace.SettingsFile // an overlay alone does not count
	if f.Yes {
		if exists {
			return fault.Usage(workspace.SettingsFile+" already exists",
				"remove it first, or run ralph init in a terminal", nil)
		}
		return f.interview(&dialog{out: at.Out, line: func(string) (string, error) { return "", nil }})
	}
	d, err := at.talk(ctx)
	if err != nil {
		return err
	}
	if exists {
		if err := show(existing, d.out); err != nil {
			return err
		}
		if !d.yes("Overwrite? (y/N): ", false) {
			return d.err
		}
	}
	return f.interview(d)
}

// show shows existing settings.
func show(files []config.File, out io.Writer) error {
	merged, err := config.ReadSettings(files...)
	if err != nil {
		return err
	}
	text, err := merged.Show()
	if err != nil {
		return err
	}
	overlay := ""
	if len(files) > 1 {
		overlay = " (with local overlay from settings.local.json)"
	}
	_, err = fmt.Fprintf(out, "%sLoaded from %s%s\n", text, workspace.SettingsFile, overlay)
	return err
}

// interview asks for everything in the order of a run, proposes what was found, and writes the settings.
func (f Files) interview(d *dialog) error {
	usual, err := config.ReadSettings()
	if err != nil {
		return err
	}
	found := f.survey()
	var a config.Settings
	// The two defaults that people look for.
	a.OutputTruncateChars = usual.OutputTruncateChars
	a.StreamAgentOutput = usual.StreamAgentOutput
	const command = "Agent command (e.g., claude, codex, amp, or other LLM CLI)"
	if f.Agent == "" {
		a.Agent.Command = d.ask(command+": ", aCommand)
	} else {
		a.Agent.Command = d.askOr(command, f.Agent, aCommand)
	}
	a.Agent.Flags = list(d.ask("Agent flags (comma-separated, optional): ", someWords))
	iterations := d.askOr("Maximum iterations", strconv.Itoa(usual.MaximumIterations), aNumber)
	a.MaximumIterations, _ = strconv.Atoi(iterations) // the dialog has checked it
	a.CompletionResponse = d.askOr("Completion response", usual.CompletionResponse, anything)
	a.Guardrails = d.askGuardrails(found.Checks)
	for _, setup := range found.Setup { // a clean checkout has no packages
		if d.yes(fmt.Sprintf("Run %s (from %s) before the guardrails? (Y/n): ", setup.Command, setup.From), true) {
			a.Setup = append(a.Setup, setup.Command)
		}
	}
	if d.yes("Configure SCM? (y/N): ", false) {
		a.SCM = &policy.SCM{
			Command: d.ask("  SCM command (e.g., git): ", aCommand),
			Tasks:   list(d.ask("  SCM tasks (comma-separated, e.g., commit,push): ", aList)),
		}
	}
	if d.err != nil {
		return d.err
	}
	return f.write(a, d.out)
}

// askGuardrails proposes the checks that were found, and goes on until nothing is answered.
func (d *dialog) askGuardrails(found []survey.Command) []config.Guardrail {
	var all []config.Guardrail
	for _, check := range found {
		if d.yes(fmt.Sprintf("Use %s (from %s) as a guardrail? (Y/n): ", check.Command, check.From), true) {
			all = append(all, config.Guardrail{
				Command:    check.Command,
				FailAction: policy.Append,
				Timeout:    config.GuardrailTimeout,
			})
		}
	}
	for {
		command := d.ask("Add guardrail command (leave blank to finish): ", anything)
		if command == "" {
			return all
		}
		action := d.ask("  Fail action (APPEND|PREPEND|REPLACE): ", anAction)
		all = append(all, config.Guardrail{
			Command:    command,
			FailAction: policy.FailAction(strings.ToUpper(action)),
			Hint:       d.ask("  Hint (optional, guidance for agent on failure): ", anything),
			Timeout:    config.GuardrailTimeout,
		})
	}
}

// write writes the settings, after reading them as a run will.
func (f Files) write(a config.Settings, out io.Writer) error {
	data, err := a.Marshal()
	if err != nil {
		return err
	}
	if _, err := config.ReadSettings(config.File{Name: "the answers", Data: data}); err != nil {
		return err
	}
	if err := workspace.WriteSettings(f.ProjectDir, data); err != nil {
		return err
	}
	task := "Make the tests pass, and add one that is missing. " +
		"Then answer <response>" + a.CompletionResponse + "</response>."
	_, err = fmt.Fprintf(out, "\nSettings written to %s\n\n"+
		"Next:\n  ralph doctor --checks   # try the guardrails\n  ralph run -p %s\n",
		workspace.SettingsFile, shell.Quote(task))
	return err
}

func list(answer string) []string {
	entries := []string{}
	for entry := range strings.SplitSeq(answer, ",") {
		if entry = strings.TrimSpace(entry); entry != "" {
			entries = append(entries, entry)
		}
	}
	return entries
}

// The checks of answers return what is wrong.

func anything(string) error { return nil }

func aCommand(answer string) error {
	if answer == "" {
		return errors.New("a command is needed")
	}
	_, err := agent.Words(answer)
	return err
}

func someWords(answer string) error {
	for _, entry := range list(answer) {
		if _, err := agent.Words(entry); err != nil {
			return err
		}
	}
	return nil
}

func aList(answer string) error {
	if len(list(answer)) == 0 {
		return errors.New("at least one is needed")
	}
	return nil
}

func aNumber(answer string) error {
	const most = 1_000_000_000 // that the settings take
	n, err := strconv.Atoi(answer)
	if err != nil || n < 1 || n > most {
		return errors.New("a whole number from 1 up is needed")
	}
	return nil
}

func anAction(answer string) error {
	known := []string{string(policy.Append), string(policy.Prepend), string(policy.Replace)}
	if slices.Contains(known, strings.ToUpper(answer)) {
		return nil
	}
	return errors.New("it is one of " + strings.Join(known, ", "))
}
