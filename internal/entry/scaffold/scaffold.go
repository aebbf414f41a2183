// Package scaffold writes the files that a project starts with: settings, asked for at a terminal; a PRD with its
// prompt and log; and the GitHub workflow. It overwrites nothing without permission.
package scaffold

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/prompt"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
	"github.com/ralph-loop/ralph/internal/proof/survey"
	"github.com/ralph-loop/ralph/templates"
)

// Files says what to lay out in a project, as flags of ralph init.
type Files struct {
	ProjectDir string `short:"d" default:"." type:"folder" placeholder:"DIR" help:"Project directory (default: current directory)."`
	Yes        bool   `help:"Write .ralph/settings.json with what was found, without asking."`
	PRD        bool   `name:"prd" help:"Write ralph/ with a PRD, a prompt and a progress log to fill in."`

	Name   string `placeholder:"FEATURE" help:"Feature that the PRD is about; its branch is ralph/FEATURE. Implies --prd."`
	GitHub bool   `name:"github" help:"Write the GitHub workflows and the issue form."`
	Host   *bool  `negatable:"" help:"Run ralph on the runner with the tools of setup steps; --no-host: in a container with git, sh and agents only (default: as the checks need). Implies --github."`
	Proof  bool   `name:"proof" help:"Write the workflows that prove any pull request (check ralph/proof), without an agent."`
	// Pin names ralph's version in the workflow, as "COMMIT # v1.2.3"; empty: it builds ralph's main.
	Pin   string `kong:"-"`
	Agent string `kong:"-"` // the program of an agent that was found here; empty: none was.
	// Ignored are the files and folders in the project that git ignores. A clean checkout has none of them.
	Ignored []string `kong:"-"`

	App string `placeholder:"NAME" help:"GitHub App (of ralph serve) that alone starts the workflow. Implies --github."`
}

// Any reports whether the flags name files at all, by name or by what they imply.
func (f *Files) Any() bool {
	f.PRD = f.PRD || f.Name != ""
	f.GitHub = f.GitHub || f.Host != nil || f.App != ""
	return f.PRD || f.OnGitHub()
}

// OnGitHub reports whether there are workflows among the files.
func (f Files) OnGitHub() bool { return f.GitHub || f.Proof }

// Write writes all of the files or none, and says on out what it wrote and what is left to do.
func (f Files) Write(now time.Time, out, warn io.Writer) error {
	elsewhere := f.misplaced()
	if f.OnGitHub() && elsewhere != "" {
		return fault.Usage(
			"GitHub reads .github only at the top of a repository, and "+f.ProjectDir+" is not one", elsewhere, nil)
	}
	var files []workspace.NewFile
	if f.PRD {
		loop, err := f.loop(now)
		if err != nil {
			return err
		}
		files = append(files, loop...)
	}
	var values workflowValues
	if f.OnGitHub() {
		var err error
		if values, err = f.workflowValues(); err != nil {
			return err
		}
		files = append(files, f.workflows(values)...)
	}
	if err := workspace.Scaffold(f.ProjectDir, files); err != nil {
		return err
	}
	for _, file := range files {
		fmt.Fprintln(out, "wrote", file.Path)
	}
	values.print(out)
	if f.PRD {
		if err := f.ignore(out); err != nil {
			return err
		}
	}
	if f.PRD && elsewhere != "" {
		fmt.Fprintf(warn, "warning: ralph run works on stories at the top of a repository, and %s is not one: %s\n",
			f.ProjectDir, elsewhere)
	}
	f.next(out, values)
	return nil
}

// misplaced returns the hint for a project that is not the top of a repository.
func (f Files) misplaced() string {
	if _, err := os.Lstat(filepath.Join(f.ProjectDir, ".git")); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if top := guarded.Around(f.ProjectDir); top != f.ProjectDir {
		return "run the command in " + top
	}
	return "run git init first"
}

// ignore keeps this machine's runs out of git. The settings are for everybody.
func (f Files) ignore(to io.Writer) error {
	added, err := guarded.AddLines(f.ProjectDir, ".gitignore", ".ralph-active", ".ralph/*", "!.ralph/settings.json")
	if err != nil || len(added) == 0 {
		return err
	}
	_, err = fmt.Fprintln(to, "added to .gitignore:", strings.Join(added, " "))
	return err
}

// next prints what is left to do.
func (f Files) next(to io.Writer, values workflowValues) {
	for _, step := range []struct {
		path   string
		needed bool
	}{
		{"start/next.txt", f.PRD},
		{"workflows/next.txt", f.GitHub},
		{"workflows/next-proof.txt", f.Proof},
		{"workflows/next-host.txt", values.Host && values.Tools == nil},
		{"workflows/next-app.txt", f.App != ""},
		{"workflows/next-unreleased.txt", f.OnGitHub() && f.Pin == ""},
	} {
		if step.needed {
			fmt.Fprint(to, templates.Text(step.path))
		}
	}
}

// loop returns a PRD, a prompt and a log to fill in.
func (f Files) loop(now time.Time) ([]workspace.NewFile, error) {
	if f.Name != "" { // git would refuse such a branch later
		if err := git.CheckBranch("ralph/" + f.Name); err != nil {
			return nil, fault.Usage("invalid feature name", "try --name "+plan.Slug(f.Name, 40), err)
		}
	}
	begin := Beginning{Project: filepath.Base(f.ProjectDir), Feature: f.Name, Now: now}
	files, err := begin.NewFiles()
	if err != nil {
		return nil, err
	}
	text := []byte(templates.Text("start/prompt.md"))
	return append(files, workspace.NewFile{Path: begin.Memory.PromptFile(), Data: text}), nil
}

// Beginning is what a loop begins with.
type Beginning struct {
	Project string
	Memory  workspace.Memory
	Feature string // empty: the template's
	Now     time.Time
}

// NewFiles returns a PRD to fill in, and a log without entries.
func (b Beginning) NewFiles() ([]workspace.NewFile, error) {
	var prd plan.Plan
	if err := json.Unmarshal([]byte(templates.Text("start/prd.json")), &prd); err != nil {
		return nil, fmt.Errorf("make a PRD: %w", err)
	}
	prd.Project = b.Project
	about := b.Project
	if b.Feature != "" {
		prd.BranchName = "ralph/" + b.Feature
		about += " (" + b.Feature + ")"
	}
	data, err := prd.Marshal()
	if err != nil {
		return nil, fmt.Errorf("make a PRD: %w", err)
	}
	year, month, day := b.Now.Date()
	progress := prompt.ProgressLog(journal.Run{
		// The date that people see on their calendar, wherever they are.
		Clock: journal.Clock{Began: time.Date(year, month, day, 0, 0, 0, 0, time.UTC)},
		Plan:  plan.Plan{Project: about},
	})
	names := b.Memory.Files()
	return []workspace.NewFile{{Path: names[0], Data: data}, {Path: names[1], Data: []byte(progress)}}, nil
}

// logHead is the line of a log with what the loop is about, as NewFiles writes it.
var logHead = pattern.Of(`(?m)^PRD: (.+?)(?: \(([^()\n]+)\))?$`)

// Begun returns the project and branch that NewFiles wrote into the log: a shell that redirects the output of
// ralph plan has emptied the PRD.
func Begun(project string) plan.Plan {
	log, _ := workspace.ReadFile(filepath.Join(project, workspace.Memory{}.Files()[1])) // no file says nothing
	head := logHead.FindStringSubmatch(string(log))
	if head == nil {
		return plan.Plan{}
	}
	begun := plan.Plan{Project: head[1]}
	if head[2] != "" {
		begun.BranchName = "ralph/" + head[2]
	}
	return begun
}

// survey returns what the project's files suggest, without those that git ignores. An unreadable file counts as
// missing.
func (f Files) survey() survey.Found {
	ignored := map[string]bool{}
	for _, name := range f.Ignored {
		ignored[name] = true
	}
	list := func(folder string) []string {
		var names []string
		entries, _ := untrusted.ReadDir(filepath.Join(f.ProjectDir, folder)) // an unreadable folder counts as empty
		for _, entry := range entries {
			name := entry.Name()
			if entry.IsDir() {
				name += "/"
			}
			if !ignored[strings.TrimPrefix(folder+"/"+name, "/")] {
				names = append(names, name)
			}
		}
		return names
	}
	read := func(name string) []byte {
		if ignored[name] {
			return nil
		}
		data, _ := workspace.ReadSettings(f.ProjectDir, name)
		return data
	}
	return survey.Read(survey.Source{List: list, Read: read})
}
