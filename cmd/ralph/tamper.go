package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/suite"
	"github.com/ralph-loop/ralph/internal/tamper"
)

type tamperCommand struct {
	Base       string `arg:"" optional:"" help:"The commit to compare with; where the work left the default branch when not given."`
	Head       string `arg:"" optional:"" help:"The commit to look at; the files as they are when not given."`
	ProjectDir string `short:"d" default:"." type:"path" placeholder:"DIR" help:"The project."`
	JSON       bool   `name:"json" help:"Print the findings as one JSON object."`
}

// Help gives the example.
func (tamperCommand) Help() string {
	return `Tells where tests, snapshots, lint rules, coverage floors, CI or check commands
say less than they did: for Go, Python, JavaScript and TypeScript. It runs
nothing, and its exit code is 0 whatever it finds.

Example: ralph tamper main HEAD --json`
}

func (tamperCommand) guarded() bool { return false }

func (c tamperCommand) run(ctx context.Context, w world) (int, error) {
	tool, done, err := w.soundGit(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	span, dir, err := c.span(ctx, tool)
	if err != nil {
		return 0, err
	}
	changed, err := tool.Changes(ctx, dir, span)
	if err != nil {
		return 0, err
	}
	changes := make([]tamper.Change, 0, len(changed))
	unread := []string{}
	for _, file := range changed {
		changes = append(changes, tamper.Change(file))
		if file.Unread && suite.Of(file.Path) == suite.Test {
			unread = append(unread, file.Path)
		}
	}
	return fault.ExitDone, c.print(w, tamper.Find(changes), unread)
}

// span is what is compared, and where.
func (c tamperCommand) span(ctx context.Context, tool git.Git) (git.Span, string, error) {
	named := c.Head
	if named == "" {
		named = "HEAD"
	}
	head, err := tool.Named(ctx, c.ProjectDir, named)
	if err != nil {
		return git.Span{}, "", err
	}
	if c.Base == "" { // then there is no head either
		return c.untilNow(ctx, tool, head)
	}
	base, err := tool.Named(ctx, c.ProjectDir, c.Base)
	if err != nil || c.Head != "" {
		return git.Span{From: base, To: head}, c.ProjectDir, err
	}
	tree, top, err := tool.WorkTree(ctx, c.ProjectDir)
	return git.Span{From: base, To: tree}, top, err
}

// untilNow is the work up to the files as they are. A commit with nothing before
// it is the base itself, where they are others.
func (c tamperCommand) untilNow(ctx context.Context, tool git.Git, head string) (git.Span, string, error) {
	base, alone := tool.Fork(ctx, c.ProjectDir, head)
	tree, top, err := tool.WorkTree(ctx, c.ProjectDir)
	if alone == nil || err != nil {
		return git.Span{From: base, To: tree}, top, cmp.Or(alone, err)
	}
	span := git.Span{From: head, To: tree}
	if changed, err := tool.Changes(ctx, top, span); err != nil || len(changed) == 0 {
		return git.Span{}, "", alone
	}
	return span, top, nil
}

func (c tamperCommand) print(w world, found []tamper.Finding, unread []string) error {
	if c.JSON {
		return printJSON(w.stdout, struct {
			Findings []tamper.Finding `json:"findings"`
			Unread   []string         `json:"unread,omitempty"`
		}{append([]tamper.Finding{}, found...), unread})
	}
	for _, name := range unread {
		fmt.Fprint(w.stderr, harmless(name+" was not read: it is too large\n"))
	}
	if len(found) == 0 && len(unread) == 0 {
		fmt.Fprintln(w.stderr, "nothing says less than it did")
		return nil
	}
	var text strings.Builder
	for _, f := range found {
		fmt.Fprintf(&text, "%s: %s: %s\n", f.File, f.Kind, f.Why)
		for _, line := range f.Lines {
			fmt.Fprintf(&text, "  %s\n", line)
		}
	}
	_, err := fmt.Fprint(w.stdout, harmless(text.String()))
	return err
}
