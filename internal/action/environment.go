package action

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/fault"
)

// environment is what the runner tells a job.
type environment struct {
	EventName  string
	EventPath  string
	Repository string
	Actor      string
	Workspace  string
	APIURL     string
	GraphQLURL string
	ServerURL  string
	RunID      string
	Attempt    string
	Summary    string
}

func readEnvironment(getenv func(string) string) (environment, error) {
	env := environment{
		EventName:  getenv("GITHUB_EVENT_NAME"),
		EventPath:  getenv("GITHUB_EVENT_PATH"),
		Repository: getenv("GITHUB_REPOSITORY"),
		Actor:      getenv("GITHUB_ACTOR"),
		Workspace:  getenv("GITHUB_WORKSPACE"),
		APIURL:     getenv("GITHUB_API_URL"),
		GraphQLURL: getenv("GITHUB_GRAPHQL_URL"),
		ServerURL:  getenv("GITHUB_SERVER_URL"),
		RunID:      getenv("GITHUB_RUN_ID"),
		Attempt:    getenv("GITHUB_RUN_ATTEMPT"),
		Summary:    getenv("GITHUB_STEP_SUMMARY"),
	}
	var missing []string
	for _, needed := range []struct{ name, value string }{
		{"GITHUB_EVENT_NAME", env.EventName},
		{"GITHUB_EVENT_PATH", env.EventPath},
		{"GITHUB_REPOSITORY", env.Repository},
		{"GITHUB_WORKSPACE", env.Workspace},
	} {
		if needed.value == "" {
			missing = append(missing, needed.name)
		}
	}
	if len(missing) > 0 {
		return environment{}, fault.Usage("this is no GitHub job: "+strings.Join(missing, ", ")+" not set",
			"use it as a step of a workflow; `ralph demo` shows it on this machine", nil)
	}
	return env, nil
}

// folder is where the project's .ralph lies.
func (e environment) folder() string { return filepath.Join(e.Workspace, ".ralph") }

// repo is the repository's page, and what git clones.
func (e environment) repo() string { return e.ServerURL + "/" + e.Repository }

// log is the page of the job's log.
func (e environment) log() string {
	if e.RunID == "" {
		return ""
	}
	return fmt.Sprintf("%s/actions/runs/%s", e.repo(), e.RunID)
}

// maskable are the lines of a secret that the runner can look for.
func maskable(secret string) []string {
	var lines []string
	for line := range strings.Lines(secret) {
		if line = strings.TrimSpace(line); len(line) >= 4 {
			lines = append(lines, line)
		}
	}
	return lines
}

// say writes a line of log in which nothing can command the runner, nor give a
// secret away.
func (v *visit) say(text string) {
	for line := range strings.Lines(v.secrets.String(text)) {
		fmt.Fprintln(v.Out, clean.LogLine(strings.TrimSuffix(line, "\n")))
	}
}
