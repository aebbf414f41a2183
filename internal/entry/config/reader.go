package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/jsontree"
)

type reader struct {
	get   func(string) string
	known []string // names of the inputs that exist
	errs  []error
}

func (r *reader) addError(name string, err error) {
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("%s: %w", name, err))
	}
}

func (r *reader) number(name string, fallback int) int {
	value := r.get(name)
	if value == "" {
		return fallback
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		r.addError(name, fmt.Errorf("%q is not a whole number, 0 or more", value))
	}
	return n
}

func (r *reader) money(name string, fallback float64) float64 {
	value := strings.TrimPrefix(r.get(name), "$")
	if value == "" {
		return fallback
	}
	usd, err := strconv.ParseFloat(value, 64)
	if err != nil || !(usd >= 0 && usd < 1e9) {
		r.addError(name, fmt.Errorf("%q is not an amount of dollars", value))
	}
	return usd
}

// choice returns an input that must be one of words. The first is the default.
func (r *reader) choice(name string, words ...string) string {
	value := cmp.Or(r.get(name), words[0])
	if slices.Contains(words, value) {
		return value
	}
	r.addError(name, fmt.Errorf("%q is not one of %s", value, strings.Join(words, ", ")))
	return words[0]
}

func (r *reader) lines(name string) []string { return nonEmptyLines(r.get(name)) }

func (r *reader) list(name string) []string {
	return nonEmptyLines(strings.ReplaceAll(r.get(name), ",", "\n"))
}

func nonEmptyLines(text string) []string {
	var all []string
	for piece := range strings.Lines(text) {
		if piece = strings.TrimSpace(piece); piece != "" {
			all = append(all, piece)
		}
	}
	return all
}

// runnerInputs are the inputs that the runner or host/action.yml reads.
var runnerInputs = []string{"args", "entrypoint", "ralph"}

// goneInputs say what is done instead.
var goneInputs = map[string]string{
	"report":        "the report is always written",
	"state-labels":  "an issue is always labelled with the state of its run",
	"buttons":       "list the type edited of the event issue_comment in the workflow",
	"prompt-file":   "use prompt",
	"dry-run":       "`ralph action --explain` shows what an event means",
	"https-proxy":   "set the variable HTTPS_PROXY",
	"ca-bundle":     "set the variable SSL_CERT_FILE",
	"setup-domains": "allow-domains counts for setup, too",
	"amp-api-key":   "use provider-api-key",

	"copilot-provider-api-key": "use provider-api-key",
}

// movedInputs name the settings that inputs became.
var movedInputs = map[string]string{
	"agent-args": "agent.flags", "agent-command": "agent.command", "iteration-timeout": "agent.timeout",
	"allow-models": "sandbox.allowModels", "private-hosts": "github.privateHosts", "protect": "protect",
	"baseline": "baseline", "proof": "proof", "tamper": "tamper", "review-agent": "review.agent",
	"review-model": "review.model", "max-iterations": "limits.maxIterations", "max-time": "limits.maxTime",
	"stall-after": "limits.stallAfter", "max-runs": "github.maxRuns", "max-open-prs": "github.maxOpenPrs",
	"label": "github.label", "trigger-phrase": "github.triggerPhrase", "assignee": "github.assignee",
	"plan-approval": "github.planApproval", "mcp-config": "github.mcpConfig",
	"working-directory": "github.workingDirectory", "check-timeout": "github.checkTimeout",
	"base-branch": "github.baseBranch", "branch-prefix": "github.branchPrefix", "draft": "github.draft",
	"reviewers": "github.reviewers", "pr-labels": "github.prLabels", "fail-on": "github.failOn",
	"commit-signing": "github.commitSigning", "sign-off": "github.signOff",
}

// checkUnknown reports unknown inputs: a limit with a wrong name would limit nothing. It must be called
// after all inputs were read.
func (r *reader) checkUnknown(given []string) {
	for _, name := range given {
		name = strings.ToLower(name)
		if slices.Contains(r.known, name) || slices.Contains(runnerInputs, name) {
			continue
		}
		r.errs = append(r.errs, r.unknown(name))
	}
}

func (r *reader) unknown(name string) error {
	if setting := movedInputs[name]; setting != "" {
		const where = "set %q in " + workspace.SettingsFile + ", and name that file with the input `config`"
		return fmt.Errorf("the input %q moved: "+where, name, setting)
	}
	if why := goneInputs[name]; why != "" {
		return fmt.Errorf("there is no input %q any more: %s", name, why)
	}
	clipped := fmt.Sprintf("%.80s", name)
	if near, found := jsontree.Nearest(strings.ReplaceAll(name, "_", "-"), r.known); found {
		return fmt.Errorf("%s: unknown input, use `%s`", clipped, near)
	}
	return fmt.Errorf("%s: unknown input", clipped)
}
