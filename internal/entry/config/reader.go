package config

import (
	"cmp"
	"fmt"
	"path/filepath"
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

func (r *reader) number(name string) int {
	value := cmp.Or(r.get(name), "0")
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		r.addError(name, fmt.Errorf("%q is not a whole number, write digits only, such as 7", value))
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
		r.addError(name, fmt.Errorf("%q is not an amount of dollars, write a number such as 5 or 2.50", value))
	}
	return usd
}

// choice returns an input that must be one of words. The first is the default.
func (r *reader) choice(name string, words ...string) string {
	value := cmp.Or(r.get(name), words[0])
	if !slices.Contains(words, value) {
		r.addError(name, fmt.Errorf("%q is not one of %s", value, strings.Join(words, ", ")))
	}
	return value
}

func (r *reader) lines(name string) []string { return nonEmptyLines(r.get(name)) }

func (r *reader) list(name string) []string {
	all := nonEmptyLines(strings.ReplaceAll(r.get(name), ",", "\n"))
	for _, word := range all {
		if strings.ContainsAny(word, "@ ") { // it would match nothing without an error
			r.addError(name, fmt.Errorf("%q: write one name per line, without @ and blanks", word))
		}
	}
	return all
}

// path returns the path of a file or folder of the repository.
func (r *reader) path(name string) string {
	value := r.get(name)
	if value != "" && !filepath.IsLocal(value) {
		r.addError(name, fmt.Errorf("%q is outside the repository, write a path within it", value))
	}
	return value
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

// Removed says what to do instead of an input, a command ("ralph verify") or a flag ("--notify") that was removed.
var Removed = map[string]string{
	"report":        "the report is always written",
	"state-labels":  "an issue is always labelled with the state of its run",
	"buttons":       "comment the command, such as /ralph approve",
	"dry-run":       "comment /ralph plan, which shows the stories and starts no work",
	"https-proxy":   "set the variable HTTPS_PROXY",
	"ca-bundle":     "set the variable SSL_CERT_FILE",
	"setup-domains": "allow-domains counts for setup, too",
	"prompt-file":   "use prompt",
	"amp-api-key":   "use provider-api-key", "copilot-provider-api-key": "use provider-api-key",
	"agent-args": setting("agent.flags"), "agent-command": setting("agent.command"),
	"iteration-timeout": setting("agent.timeout"), "allow-models": setting("sandbox.allowModels"),
	"private-hosts": setting("github.privateHosts"), "protect": setting("protect"),
	"baseline": setting("baseline"), "proof": setting("proof"), "tamper": setting("tamper"),
	"review-agent": setting("review.agent"), "review-model": setting("review.model"),
	"max-iterations": setting("limits.maxIterations"), "max-time": setting("limits.maxTime"),
	"stall-after": setting("limits.stallAfter"), "max-runs": setting("github.maxRuns"),
	"max-open-prs": setting("github.maxOpenPrs"), "label": setting("github.label"),
	"trigger-phrase": setting("github.triggerPhrase"), "assignee": "use the label or a comment",
	"plan-approval": setting("github.planApproval"), "mcp-config": setting("github.mcpConfig"),
	"working-directory": setting("github.workingDirectory"), "check-timeout": setting("github.checkTimeout"),
	"base-branch": setting("github.baseBranch"), "branch-prefix": setting("github.branchPrefix"),
	"draft": setting("github.draft"), "reviewers": setting("github.reviewers"),
	"pr-labels": setting("github.prLabels"), "fail-on": setting("github.failOn"),
	"commit-signing": setting("github.commitSigning"), "sign-off": setting("github.signOff"),
	"ralph checks": "use ralph doctor --checks", "ralph tamper": "use ralph prove", "ralph verify": "use ralph prove",
	"ralph version": "use ralph --version", "ralph worktree": "use git worktree, and ralph gc",
	"--notify": "start your command after ralph: ralph run; notify-send done", "--timestamps": "use --verbose",
}

func setting(key string) string {
	return fmt.Sprintf("set %q in "+workspace.SettingsFile+", and name that file with the input `config`", key)
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
	if instead := Removed[name]; instead != "" {
		return fmt.Errorf("the input %q was removed: %s", name, instead)
	}
	if near, found := jsontree.Nearest(strings.ReplaceAll(name, "_", "-"), r.known); found {
		return fmt.Errorf("%.80s: unknown input, use `%s`", name, near)
	}
	return fmt.Errorf("%.80s: unknown input, docs/inputs.md lists the known ones", name)
}
