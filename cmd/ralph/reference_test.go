package main_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/price"
)

// generated is a part of a page that is made from the code; its name says which.
var generated = regexp.MustCompile(`(?s)(<!-- generated: ([^>]+) -->\n).*?(<!-- /generated -->)`)

// The reference pages say what the program says. make reference writes them anew.
func TestReference(t *testing.T) {
	t.Parallel()
	parts := map[string]string{
		"comment commands": commentCommands(t), "stop reasons": stopReasons(t),
		"outputs": outputRows(t), "prices": priceRows(t), "endurance": disturbanceRows(),
	}
	maps.Copy(parts, inputRows(t))
	for _, name := range []string{"triggers.md", "cost.md", "results.md", "inputs.md", "dev/reliability.md"} {
		page := readFile(t, "../../docs/"+name)
		want := generated.ReplaceAllStringFunc(page, func(found string) string {
			at := generated.FindStringSubmatch(found)
			text, known := parts[at[2]]
			if !known {
				t.Errorf("%s: nothing generates %q", name, at[2])
			}
			delete(parts, at[2])
			return at[1] + "\n" + strings.TrimSpace(text) + "\n\n" + at[3]
		})
		if *update && want != page {
			if err := write("../../docs/"+name, []byte(want)); err != nil {
				t.Fatal(err)
			}
		} else if d := diff.Diff(page, want); d != "" {
			t.Errorf("docs/%s is stale, run make reference (-page +code):\n%s", name, d)
		}
	}
	for part := range parts {
		t.Errorf("no page has a part for %q", part)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var inputOrGroup = regexp.MustCompile(`(?m)^  (?:# (.+)|([a-z-]+): \{description: )`)

// inputRows are lists of the inputs, by the comments that divide them in host/action.yml.
func inputRows(t *testing.T) map[string]string {
	t.Helper()
	host := offeredBy(t, "../../host/action.yml")
	text, _, _ := strings.Cut(readFile(t, "../../host/action.yml"), "\noutputs:\n")
	lists, group := map[string]string{}, ""
	for _, found := range inputOrGroup.FindAllStringSubmatch(text, -1) {
		if found[1] != "" {
			group = "inputs: " + found[1]
			continue
		}
		input, standard := host.Inputs[found[2]], ""
		if input.Default != "" && !strings.HasPrefix(input.Default, "${{") {
			standard = " (`" + input.Default + "`)"
		}
		lists[group] += fmt.Sprintf("- `%s`%s – %s\n", found[2], standard, input.Description)
		delete(host.Inputs, found[2])
	}
	if len(host.Inputs) > 0 {
		t.Errorf("inputs without a group: %v", host.Inputs)
	}
	return lists
}

func outputRows(t *testing.T) string {
	t.Helper()
	list := ""
	outputs := offeredBy(t, "../../action.yml").Outputs
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		list += fmt.Sprintf("- `%s`: %s\n", name, outputs[name].Description)
	}
	return list
}

// commentCommands returns the answer to /ralph help, without its first lines.
func commentCommands(t *testing.T) string {
	t.Helper()
	_, table, found := strings.Cut(readFile(t, "../../templates/comment/help.md"), "\n\n")
	if !found {
		t.Error("the help for comments has no table")
	}
	return table
}

// reasons says in a few words why a run stops; the rest of the row is the code's.
var reasons = map[policy.Reason]string{
	policy.AllStoriesPassed:   "Every story passed.",
	policy.AllChecksPassed:    "All checks passed, and the agent said that the task is complete.",
	policy.ResponseMatched:    "All guardrails passed, and the agent gave the completion answer.",
	policy.PromiseAccepted:    "A loop in a Claude Code session: the agent's completion promise was accepted.",
	policy.DoneFile:           "`ralph supervise`: the agent wrote the file `DONE`.",
	policy.NothingToDo:        "No story needed a change; tests that already pass show it.",
	policy.MaxIterations:      "The limit of iterations is reached.",
	policy.BudgetExhausted:    "The limit of dollars or tokens is reached.",
	policy.Timeout:            "The time limit of the run is reached.",
	policy.Stalled:            "Several iterations in a row changed nothing or failed in the same way.",
	policy.VerificationFailed: "The work is done, but the proof on a clean checkout failed.",
	policy.Waiting:            "The agent asked to wait, or the model refused its requests for too long.",
	policy.NeedsInput:         "A question, a plan to approve or a conflict needs a person.",
	policy.Cancelled:          "A person or GitHub cancelled the run. The work is kept.",
	policy.FatalError:         "ralph could not go on: agent, checks, sandbox or GitHub failed.",
}

func stopReasons(t *testing.T) string {
	t.Helper()
	table := "| Stop reason | Status | Exit code | Meaning |\n|---|---|---|---|\n"
	for _, reason := range policy.Reasons() {
		if reasons[reason] == "" {
			t.Errorf("no words for the stop reason %s", reason)
		}
		code := fmt.Sprint(reason.Status().ExitCode(false))
		if parked := fmt.Sprint(reason.Status().ExitCode(true)); parked != code {
			code += "; on GitHub and in `ralph supervise` " + parked
		}
		table += fmt.Sprintf("| `%s` | %s | %s | %s |\n", reason, reason.Status(), code, reasons[reason])
	}
	return table
}

// priceRows returns how many million tokens the default limit of a run pays for.
func priceRows(t *testing.T) string {
	t.Helper()
	limit := policy.ForPreset(policy.ByStories).Limits.CostUSD
	table := fmt.Sprintf("Prices of %s:\n\n| Model | $%g pays for output tokens | or for cached input tokens |\n|---|---|---|\n", price.Date, limit)
	for _, model := range []string{"claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "gpt-6.2-sol", "gemini-3.1-pro-preview"} {
		output, known := price.Of(model, price.Tokens{Output: 1e6}, nil)
		cached, _ := price.Of(model, price.Tokens{CacheRead: 1e6}, nil)
		if !known {
			t.Errorf("no price of %s", model)
		}
		table += fmt.Sprintf("| `%s` | %.2f million | %.0f million |\n", model, limit/output, limit/cached)
	}
	return table
}
