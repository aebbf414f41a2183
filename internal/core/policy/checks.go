package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/agentfiles"
)

// NewChecks makes a check of each command. Equal commands make one.
func NewChecks(commands []string, timeout Duration) []Check { return AddChecks(nil, commands, timeout) }

// UniqueChecks returns each check a unique name. Equal checks become one.
func UniqueChecks(checks []Check) []Check {
	var all []Check
	seen := map[Check]bool{}
	for _, check := range checks {
		check.Name = ""
		if seen[check] {
			continue
		}
		seen[check] = true
		check.Name = shortName(check.Command, all)
		all = append(all, check)
	}
	return all
}

// AddChecks adds new commands, which may name their paths: paths: web/** -> npm test.
func AddChecks(checks []Check, commands []string, timeout Duration) []Check {
	all := slices.Clone(checks)
	for _, text := range commands {
		paths, command := splitPaths(text)
		if slices.ContainsFunc(all, func(c Check) bool { return c.Command == command && c.Paths == paths }) {
			continue
		}
		all = append(all, Check{Name: shortName(command, all), Command: command, Paths: paths, Timeout: timeout})
	}
	return all
}

func splitPaths(text string) (paths, command string) {
	rest, ok := strings.CutPrefix(text, "paths:")
	if !ok {
		return "", text
	}
	globs, command, ok := strings.Cut(strings.Replace(rest, "→", "->", 1), "->")
	if !ok {
		return "", text
	}
	return strings.Join(strings.Fields(globs), " "), strings.TrimSpace(command)
}

// Configured returns the policy without detected checks and setup.
func (p Policy) Configured() Policy {
	p.Checks = slices.DeleteFunc(slices.Clone(p.Checks), func(c Check) bool { return c.Detected })
	p.Setup = slices.DeleteFunc(slices.Clone(p.Setup), func(c Check) bool { return c.Detected })
	return p
}

// shortName is unique among taken.
func shortName(command string, taken []Check) string {
	const most = 40
	short, _, more := strings.Cut(command, "\n")
	if runes := []rune(short); len(runes) > most {
		short, more = string(runes[:most]), true
	}
	if more {
		short += "…"
	}
	unique := short
	for i := 2; slices.ContainsFunc(taken, func(c Check) bool { return c.Name == unique }); i++ {
		unique = fmt.Sprintf("%s (%d)", short, i)
	}
	return unique
}

// ProtectedFiles returns the files that an agent may not change, in any folder: files that other machines or people's
// tools run, read or connect to on their own, and files that say who may merge. A file that somebody runs by name, such
// as a Makefile, is part of the work.
func ProtectedFiles() []string {
	all := []string{"CODEOWNERS", "docs/CODEOWNERS"}
	for _, name := range append(agentfiles.All().Globs(),
		// CI systems and bots
		".github/**", "action.yml", "action.yaml", ".forgejo/**", ".gitea/**", ".gitlab/**", "*.gitlab-ci.yml",
		".circleci/**", "Jenkinsfile*", ".buildkite/**", ".teamcity/**", ".semaphore/**", ".tekton/**",
		"azure-pipelines*.{yml,yaml}", ".azure-pipelines/**", "bitbucket-pipelines.yml",
		".travis.yml", "appveyor.yml", ".appveyor.yml", ".drone.yml", ".drone.star", ".drone.jsonnet",
		".woodpecker/**", ".woodpecker.yml", ".woodpecker.yaml", ".cirrus.yml", ".cirrus.star",
		"buildspec.yml", "cloudbuild.yaml", "cloudbuild.yml", ".readthedocs.yml", ".readthedocs.yaml",
		"renovate.json", "renovate.json5", ".renovaterc", ".renovaterc.json",
		".mergify.yml", ".mergify/**", ".kodiak.toml",
		// editors that open the folder, and machines made for them
		".vscode/**", "*.code-workspace", ".idea/**", ".zed/**", ".fleet/**",
		".devcontainer/**", ".devcontainer.json", ".gitpod.yml",
		// hooks and settings of git; the hand-over protects .gitattributes and .gitmodules
		".husky/**", ".githooks/**", "lefthook*.{yml,yaml,toml,json}", ".lefthook*.{yml,yaml,toml,json}",
		".pre-commit-config.yaml", ".pre-commit-hooks.yaml", ".overcommit.yml", ".simple-git-hooks.*", ".lfsconfig",
		".ralph/**",
	) {
		all = append(all, "**/"+name)
	}
	return all
}

// ByPromise is a loop within one session of an agent: the session continues until
// the agent gives the completion word as a promise. Iteration 0 lasts until the
// agent first wants to end; Limits.Iterations is how often it is then sent back.
const ByPromise Done = "promise"

// SessionRules are the rules of a loop within a session, besides its limits.
type SessionRules struct {
	MinTools int  `json:"min_tools,omitempty"` // calls before a promise counts; 0: it counts without work
	Ultra    bool `json:"ultra,omitempty"`     // every continuation begins with words that ask for more
	// Cap is how often in a row the agent's program accepts a refused end without
	// a tool call; 0: always. The next time it ends without asking.
	Cap int `json:"cap,omitempty"`
}

// PromiseTag returns the completion word exactly as the agent has to write it.
func (p Policy) PromiseTag() string {
	if p.Done == ByResponse {
		return "<response>" + p.Word + "</response>"
	}
	return "<promise>" + p.Word + "</promise>"
}

// SessionStatus returns the reason in the words of a loop within a session.
func (r Reason) SessionStatus() string {
	if r == MaxIterations {
		return "MAX_ITERATIONS_REACHED"
	}
	return strings.ToUpper(string(r))
}

// ByFile is a command that is started again, with any exit code, until a DONE file exists. Each attempt is an
// iteration: Limits.Iterations limits how many there are, Limits.Iteration how long one takes.
const ByFile Done = "file"

// Supervision holds the rules of a supervised run, besides its limits. It does not hold
// the command: command lines may contain keys.
type Supervision struct {
	Project string   `json:"project,omitempty"`
	Task    string   `json:"task,omitempty"`
	Dir     string   `json:"dir,omitempty"`   // the task's folder
	Delay   Duration `json:"delay,omitempty"` // before each attempt but the first
	Poll    Duration `json:"poll,omitempty"`  // between two looks at what a finished task left running
	Wait    Duration `json:"wait,omitempty"`  // for that to end; 0: for ever
}
