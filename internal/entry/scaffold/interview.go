package scaffold

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/proof/survey"
)

// interview asks for everything in the order of a run, and proposes what was found.
func (f Files) interview(d dialog) (config.Settings, error) {
	var a config.Settings
	usual, err := config.ReadSettings()
	if err != nil {
		return a, err
	}
	// The two defaults that people look for.
	a.OutputTruncateChars = usual.OutputTruncateChars
	a.StreamAgentOutput = usual.StreamAgentOutput
	if a.Agent.Command, err = f.askAgent(d); err != nil {
		return a, err
	}
	if a.Agent.Flags, err = askList(d, "Agent flags (comma-separated, optional): ", someWords); err != nil {
		return a, err
	}
	if a.MaximumIterations, err = askNumber(d, "Maximum iterations", usual.MaximumIterations); err != nil {
		return a, err
	}
	response, err := d.ask(fmt.Sprintf("Completion response [%s]: ", usual.CompletionResponse), anything)
	if err != nil {
		return a, err
	}
	a.CompletionResponse = cmp.Or(response, usual.CompletionResponse)
	files := survey.Read(f.source())
	if a.Guardrails, err = askGuardrails(d, files.Checks()); err != nil {
		return a, err
	}
	if a.Setup, err = askSetup(d, files.Setup()); err != nil {
		return a, err
	}
	a.SCM, err = askSCM(d)
	return a, err
}

func (f Files) askAgent(d dialog) (string, error) {
	const prompt = "Agent command (e.g., claude, codex, amp, or other LLM CLI)"
	if f.Agent == "" {
		return d.ask(prompt+": ", aCommand)
	}
	answer, err := d.ask(fmt.Sprintf("%s [%s]: ", prompt, f.Agent), wrongWords)
	return cmp.Or(answer, f.Agent), err
}

// askGuardrails proposes the checks that were found, and goes on until nothing is answered.
func askGuardrails(d dialog, found []survey.Command) ([]config.Guardrail, error) {
	var all []config.Guardrail
	for _, check := range found {
		question := fmt.Sprintf("Use %s (from %s) as a guardrail? (Y/n): ", check.Command, check.From)
		wanted, err := d.yes(question, true)
		if err != nil {
			return all, err
		}
		if wanted {
			all = append(all, config.Guardrail{
				Command:    check.Command,
				FailAction: policy.Append,
				Timeout:    config.GuardrailTimeout,
			})
		}
	}
	for {
		command, err := d.ask("Add guardrail command (leave blank to finish): ", anything)
		if err != nil || command == "" {
			return all, err
		}
		action, err := d.ask("  Fail action (APPEND|PREPEND|REPLACE): ", anAction)
		if err != nil {
			return all, err
		}
		hint, err := d.ask("  Hint (optional, guidance for agent on failure): ", anything)
		if err != nil {
			return all, err
		}
		all = append(all, config.Guardrail{
			Command:    command,
			FailAction: policy.FailAction(strings.ToUpper(action)),
			Hint:       hint,
			Timeout:    config.GuardrailTimeout,
		})
	}
}

// askSetup proposes what installs the packages that the checks need: a clean checkout has none.
func askSetup(d dialog, found []survey.Command) ([]string, error) {
	var all []string
	for _, setup := range found {
		question := fmt.Sprintf("Run %s (from %s) before the guardrails? (Y/n): ", setup.Command, setup.From)
		wanted, err := d.yes(question, true)
		if err != nil {
			return all, err
		}
		if wanted {
			all = append(all, setup.Command)
		}
	}
	return all, nil
}

func askSCM(d dialog) (*policy.SCM, error) {
	wanted, err := d.yes("Configure SCM? (y/N): ", false)
	if err != nil || !wanted {
		return nil, err
	}
	var scm policy.SCM
	if scm.Command, err = d.ask("  SCM command (e.g., git): ", aCommand); err != nil {
		return nil, err
	}
	if scm.Tasks, err = askList(d, "  SCM tasks (comma-separated, e.g., commit,push): ", aList); err != nil {
		return nil, err
	}
	return &scm, nil
}

func askNumber(d dialog, prompt string, fallback int) (int, error) {
	answer, err := d.ask(fmt.Sprintf("%s [%d]: ", prompt, fallback), aNumber)
	if err != nil || answer == "" {
		return fallback, err
	}
	return strconv.Atoi(answer)
}

func askList(d dialog, prompt string, check func(string) string) ([]string, error) {
	answer, err := d.ask(prompt, check)
	return list(answer), err
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

// The checks of answers return what is wrong, or "".

func anything(string) string { return "" }

func aCommand(answer string) string {
	if answer == "" {
		return "a command is needed"
	}
	return wrongWords(answer)
}

func someWords(answer string) string {
	for _, entry := range list(answer) {
		if wrong := wrongWords(entry); wrong != "" {
			return wrong
		}
	}
	return ""
}

func wrongWords(line string) string {
	if _, err := agent.Words(line); err != nil {
		return err.Error()
	}
	return ""
}

func aList(answer string) string {
	if len(list(answer)) == 0 {
		return "at least one is needed"
	}
	return ""
}

func aNumber(answer string) string {
	const most = 1_000_000_000 // that the settings take
	if answer == "" {
		return ""
	}
	n, err := strconv.Atoi(answer)
	if err != nil || n < 1 || n > most {
		return "a whole number from 1 up is needed"
	}
	return ""
}

func anAction(answer string) string {
	known := []string{string(policy.Append), string(policy.Prepend), string(policy.Replace)}
	if slices.Contains(known, strings.ToUpper(answer)) {
		return ""
	}
	return "it is one of " + strings.Join(known, ", ")
}
