package main_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/price"
)

// generated is a part of a page that is made from the code; its name says which.
var generated = regexp.MustCompile(`(?s)(<!-- generated: ([^>]+) -->\n).*?(<!-- /generated -->)`)

// The reference pages say what the program says. make reference writes them anew.
func TestReference(t *testing.T) {
	t.Parallel()
	parts := map[string]string{
		"comment commands": commentCommands(t), "stop reasons": stopReasons(t),
		"outputs": outputRows(t), "prices": priceRows(t), "endurance": enduranceRows(),
	}
	maps.Copy(parts, inputRows(t))
	maps.Copy(parts, commandParts(t))
	for _, name := range []string{"commands.md", "commands-more.md", "comments.md", "cost.md", "endings.md", "inputs.md", "dev/reliability.md"} {
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
	table := fmt.Sprintf("| Model | $%g pays for output tokens | or for cached input tokens |\n|---|---|---|\n", limit)
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

// manual is the help of a command in parts: its words, its arguments, its flags.
type manual struct {
	name, usage, words string
	arguments, flags   []string
}

var (
	beginsEntry    = regexp.MustCompile(`^ {2,6}(?:-|\[?<)`)
	namesFlag      = regexp.MustCompile(`^(.+?)(?:  +|$)(.*)$`)
	groupOrCommand = regexp.MustCompile(`(?m)^([A-Z]\w+):$|^  ([a-z][a-z-]*(?: [a-z]+)?)(?:  |$)`)
	ofAll          = regexp.MustCompile(`^- .(?:-h, --help|-v, --version)`)
)

func readManual(t *testing.T, name string) manual {
	t.Helper()
	text := help(t, strings.Fields(name)...)
	usage, text, _ := strings.Cut(strings.TrimPrefix(text, "Usage: "), "\n\n")
	m, part := manual{name: name, usage: strings.Join(strings.Fields(usage), " ")}, &[]string{}
	for line := range strings.Lines(text) {
		entry := strings.TrimSpace(line)
		switch {
		case entry == "Arguments:":
			part = &m.arguments
		case entry == "Flags:":
			part = &m.flags
		case part != &m.arguments && part != &m.flags:
			m.words += line
		case beginsEntry.MatchString(line):
			found := namesFlag.FindStringSubmatch(entry)
			*part = append(*part, strings.TrimSpace(fmt.Sprintf("- `%s`: %s", found[1], found[2])))
		case entry != "":
			(*part)[len(*part)-1] += " " + entry
		}
	}
	m.flags = slices.DeleteFunc(m.flags, ofAll.MatchString)
	return m
}

// commandParts has every command by its group; a flag that three or more commands have alike is apart.
func commandParts(t *testing.T) map[string]string {
	t.Helper()
	_, list, _ := strings.Cut(help(t), "\nStart:\n")
	groups, group := map[string][]manual{}, "Start"
	users := map[string][]string{}
	for _, found := range groupOrCommand.FindAllStringSubmatch(list, -1) {
		if found[1] != "" {
			group = found[1]
			continue
		}
		m := readManual(t, found[2])
		groups[group] = append(groups[group], m)
		for _, flag := range m.flags {
			users[flag] = append(users[flag], m.name)
		}
	}
	maps.DeleteFunc(users, func(_ string, names []string) bool { return len(names) < 3 })
	parts := map[string]string{}
	for group, all := range groups {
		for _, m := range all {
			parts["commands: "+group] += m.markdown(users)
		}
	}
	parts["shared flags"] = sharedFlags(users)
	return parts
}

// sharedFlags has the flags by the commands that have them, the longest list first.
func sharedFlags(users map[string][]string) string {
	flags := map[string]string{}
	for _, flag := range slices.SortedFunc(maps.Keys(users), func(a, b string) int {
		return cmp.Compare(strings.TrimLeft(a, "- `V,cdn"), strings.TrimLeft(b, "- `V,cdn"))
	}) {
		flags[strings.Join(users[flag], "`, `")] += flag + "\n"
	}
	text := ""
	for _, names := range slices.SortedFunc(maps.Keys(flags), func(a, b string) int {
		return cmp.Or(strings.Count(flags[b], "\n")-strings.Count(flags[a], "\n"), cmp.Compare(a, b))
	}) {
		text += fmt.Sprintf("For `%s`:\n\n%s\n", names, flags[names])
	}
	return text
}

// markdown returns a command without the flags that many share.
func (m manual) markdown(shared map[string][]string) string {
	own := slices.DeleteFunc(slices.Clone(m.flags), func(flag string) bool { return shared[flag] != nil })
	text := "## ralph " + m.name + "\n\n"
	if m.usage != "ralph "+m.name+" [flags]" {
		text += "`" + m.usage + "`\n\n"
	}
	text += asMarkdown(m.words) + "\n"
	if lines := slices.Concat(m.arguments, own); len(lines) > 0 {
		text += strings.Join(lines, "\n") + "\n\n"
	}
	return text
}

// asMarkdown keeps the words of a help, with its example as code.
func asMarkdown(words string) string {
	words = regexp.MustCompile(`(?m)^Example: (.+)$`).ReplaceAllString(words, "Example: `$1`")
	words = regexp.MustCompile(`(?m)((?:^    .*\n)+)`).ReplaceAllString(words+"\n", "\n<!-- not run: an example of the help -->\n\n$1")
	return strings.TrimSpace(strings.ReplaceAll(words, "\n\n\n", "\n\n")) + "\n"
}
