package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// stage puts the repository and the issue on the stand-in.
func (d Demo) stage(ctx context.Context, server *githubtest.Server) (issue int, err error) {
	data, err := text("project.txtar")
	if err != nil {
		return 0, err
	}
	project := txtar.Parse(data)
	title, body := "", ""
	for _, file := range project.Files {
		if name, found := strings.CutPrefix(file.Name, "repo/"); found {
			err = errors.Join(err, write(d.path("maintainer", name), file.Data))
			continue
		}
		title, body, _ = strings.Cut(string(file.Data), "\n")
	}
	if err = errors.Join(err, d.publish(ctx)); err != nil {
		return 0, err
	}
	if d.Out != nil {
		said := "GitHub is simulated on this machine. The agent plays a script, so no sandbox is used.\n" +
			section("Issue #1, labelled ralph by "+maintainer+": "+title, terminal(body)) + "\n── The log of the job " + strings.Repeat("─", 57) + "\n\n"
		if _, err := io.WriteString(d.Out, said); err != nil {
			return 0, err
		}
	}
	server.AddRepo(githubtest.Repo{Owner: owner, Name: repository, Dir: d.bare(), Roles: map[string]string{maintainer: "maintain"}})
	server.AddToken(token, githubtest.Token{Login: "github-actions[bot]", Kind: githubtest.Job, Repos: []string{full}, Permissions: githubtest.WriteAll()})
	return server.AddIssue(full, githubtest.Issue{Title: title, Body: body, Author: maintainer, Labels: []string{"ralph"}}).Number, nil
}

// publish makes the bare repository that GitHub keeps out of the maintainer's.
func (d Demo) publish(ctx context.Context) error {
	home := d.path("maintainer")
	steps := [][]string{
		{"init", "--quiet", "--initial-branch=main", "."},
		{"add", "--all"},
		{"commit", "--quiet", "--message=A greeter"},
		{"clone", "--quiet", "--bare", ".", d.bare()},
	}
	for _, args := range steps {
		if _, err := d.git(ctx, home, args...); err != nil {
			return err
		}
	}
	return os.RemoveAll(home)
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write the demo: %w", err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("write the demo: %w", err)
	}
	return nil
}

// environment is a job's, on a runner that lives in the demo's folder.
type environment map[string]string

func (e environment) get(name string) string { return e[name] }

// event has the maintainer put the label on, and the runner start a job.
func (d Demo) event(server *githubtest.Server, issue int) (environment, error) {
	payload, err := server.LabelEvent(githubtest.Event{Repo: full, Issue: issue, Sender: maintainer}, "ralph")
	if err != nil {
		return nil, err
	}
	script, err := text("script.txtar")
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		write(d.path("runner", "event.json"), payload),
		write(d.path("script.txtar"), script),
		write(d.path("runner", "GITHUB_OUTPUT"), nil),
	)
	env := environment{
		"PATH": d.Getenv("PATH"), "HOME": d.path("runner"), "LANG": "C.UTF-8",
		"INPUT_GITHUB-TOKEN": token, "INPUT_AGENT": "scripted", "RALPH_SCRIPT": d.path("script.txtar"),
		"INPUT_CHECKS": "sh check.sh", "INPUT_SANDBOX": "none", // the agent is a script that came with the program
	}
	for _, variable := range server.Environment(githubtest.Run{
		Repo: full, Event: "issues", EventPath: d.path("runner", "event.json"), Actor: maintainer,
		Workspace: d.Dir, Temp: d.path("runner"),
	}) {
		name, value, _ := strings.Cut(variable, "=")
		env[name] = value
	}
	return env, err
}
