//go:build !windows

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/entry/scaffold"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/show/view"
)

type initCommand struct{ scaffold.Files }

// actionRepository has the tags of releases. The linker sets another one where a release is tried.
var actionRepository = "https://github.com/ralph-loop/ralph"

func (c initCommand) run(ctx context.Context, w world) (int, error) {
	if err := workspace.CheckNotHome(c.ProjectDir, w.Getenv("HOME")); err != nil {
		return 0, err
	}
	c.Ignored = c.findIgnored(ctx, w)
	if c.Any() && c.Yes {
		fix := "run ralph init --yes, and ralph init with the other flags"
		return 0, fault.Usage("--yes is for the settings alone", fix, nil)
	}
	if c.Any() {
		c.Pin = c.pin(ctx, w)
		return fault.ExitDone, c.Write(w.Now(), w.Stdout, w.Stderr)
	}
	if found := agent.FindDefault(w.Environ(), c.ProjectDir); found.Installed || c.Yes {
		c.Agent = found.Name
	}
	err := c.Ask(ctx, scaffold.Terminal{In: w.Stdin, Out: w.Stdout})
	if fault.Exit(err) == fault.ExitInterrupted { // with its own words for it
		return report(w.Stderr, err), nil
	}
	return fault.ExitDone, err
}

// findIgnored returns what git ignores in the project: nothing outside a repository.
func (c initCommand) findIgnored(ctx context.Context, w world) []string {
	tool, err := w.Git(c.ProjectDir)
	if err != nil {
		return nil
	}
	ignored, err := tool.Ignored(ctx, c.ProjectDir)
	if err != nil {
		return nil
	}
	return ignored
}

var released = pattern.Of(`^v\d+\.\d+\.\d+$`)

// pin returns the commit of this program's release, with the tag in a comment.
func (c initCommand) pin(ctx context.Context, w world) string {
	if !c.OnGitHub() || !released.MatchString(version) {
		return ""
	}
	commit, err := c.findTag(ctx, w)
	if err != nil || commit == "" {
		fmt.Fprintf(w.Stderr, "mind: cannot look up the commit of %s at %s, so the workflow names the tag; "+
			"pin it with: git ls-remote %[2]s %[1]s\n", version, actionRepository)
		return version
	}
	return commit + " # " + version
}

func (c initCommand) findTag(ctx context.Context, w world) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	tool, err := w.Git(c.ProjectDir)
	if err != nil {
		return "", err
	}
	return remote.Repository{URL: actionRepository}.Tag(ctx, tool, version)
}

type planCommand struct {
	File  string `arg:"" help:"File with the text of an issue, or a prd.json; - is standard input."`
	Title string `short:"t" placeholder:"TEXT" help:"Title of the issue."`
}

func (c planCommand) run(_ context.Context, w world) (int, error) { //nolint:unparam // every command has a code
	name := c.File
	if name == "-" {
		name = "standard input"
	}
	text, err := c.read(w.Stdin)
	if err != nil {
		return 0, fault.Usage("cannot read "+name, "name a text file, or - for standard input", err)
	}
	body := string(text)
	if !plan.IsPRD(body) {
		body = clean.FromMarkdown(body, 0).Text // as an issue with this text is read
	}
	task := plan.Task{Kind: plan.KindPrompt, Title: c.Title, Body: body}
	stories, source, err := plan.Draft(task)
	if err != nil {
		return 0, explainNoPlan(name, err)
	}
	begun := scaffold.Begun(".")
	stories.Project = cmp.Or(stories.Project, begun.Project)
	stories.BranchName = cmp.Or(stories.BranchName, begun.BranchName)
	data, err := stories.Marshal()
	if err != nil {
		return 0, err
	}
	count := view.Plural(len(stories.UserStories), "story")
	fmt.Fprintf(w.Stderr, "read as %s: %s, %d to do\n", source, count, len(stories.Open()))
	task.Kind = plan.KindIssue
	if plan.IsVague(task, stories, source) {
		fmt.Fprintln(w.Stderr, "note: no criteria found, so the title is the only one; "+
			"list them in the text as - [ ] items, or in the PRD")
	}
	fmt.Fprintln(w.Stderr, "next: save it as ralph/prd.json, commit it, then: ralph run")
	_, err = w.Stdout.Write(data)
	return fault.ExitDone, err
}

const largest = 1 << 20

func (c planCommand) read(stdin io.Reader) ([]byte, error) {
	from := stdin
	if c.File != "-" {
		file, err := os.Open(c.File)
		if err != nil {
			return nil, err
		}
		defer file.Close() //nolint:errcheck // only read
		from = file
	}
	text, err := readAll(from)
	if err != nil {
		return nil, err
	}
	return text, workspace.CheckText(text)
}

// readAll reads a text that is not too large.
func readAll(from io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, largest+1))
	if err != nil {
		return nil, err
	}
	if len(text) > largest {
		return nil, errors.New("it is larger than 1 MiB")
	}
	return text, nil
}

func explainNoPlan(name string, err error) error {
	if invalid, ok := errors.AsType[*plan.Invalid](err); ok {
		invalid.Name = name
		return fault.Usage("cannot make a plan", "correct the text", err)
	}
	if known, ok := errors.AsType[*fault.Fault](err); ok {
		return fault.Usage(strings.Replace(known.What, "in prompt", "in "+name, 1), known.Fix, nil)
	}
	return fault.Usage("cannot make a plan from "+name, "shorten the text, or split it", err)
}
