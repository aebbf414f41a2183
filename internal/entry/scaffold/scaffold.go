// Package scaffold writes the files that a project starts with: settings,
// asked for at a terminal; a PRD with its prompt and log; and the GitHub
// workflow. It overwrites nothing without permission.
package scaffold

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
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
	"github.com/ralph-loop/ralph/templates"
)

// Files says what to lay out in a project, as flags of ralph init.
type Files struct {
	ProjectDir string `short:"d" default:"." type:"folder" placeholder:"DIR" help:"Project directory (default: current directory)."`
	Yes        bool   `help:"Write .ralph/settings.json with what was found, without asking."`
	PRD        bool   `name:"prd" help:"Write ralph/ with a PRD, a prompt and a progress log to fill in."`

	RalphDir string `placeholder:"DIR" help:"Directory for these files in the project (default: ralph). Implies --prd."`

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

	proposal proposal
}

// Any reports whether the flags name files at all, by name or by what they imply.
func (f *Files) Any() bool {
	f.PRD = f.PRD || f.Name != "" || f.RalphDir != ""
	f.GitHub = f.GitHub || f.Host != nil || f.App != ""
	return f.PRD || f.OnGitHub()
}

// OnGitHub reports whether there are workflows among the files.
func (f Files) OnGitHub() bool { return f.GitHub || f.Proof }

// Write writes all of the files or none, and says on out what it wrote and what is left to do.
func (f Files) Write(now time.Time, out, warn io.Writer) error {
	memory, err := workspace.MemoryPath(f.ProjectDir, f.RalphDir)
	if err != nil {
		return err
	}
	if fix := f.misplaced(); f.OnGitHub() && fix != "" {
		return fault.Usage(
			"GitHub reads .github only at the top of a repository, and "+f.ProjectDir+" is not one", fix, nil)
	}
	f.RalphDir = filepath.ToSlash(memory)
	if f.OnGitHub() {
		f.propose()
	}
	files, err := f.files(now)
	if err != nil {
		return err
	}
	if err := workspace.Scaffold(f.ProjectDir, files); err != nil {
		return err
	}
	for _, file := range files {
		fmt.Fprintln(out, "wrote", file.Path)
	}
	for _, line := range f.proposed() {
		fmt.Fprintln(out, line)
	}
	if err := f.ignore(out); err != nil {
		return err
	}
	if fix := f.misplaced(); f.PRD && fix != "" {
		fmt.Fprintf(warn, "warning: ralph run works on stories at the top of a repository, and %s is not one: %s\n",
			f.ProjectDir, fix)
	}
	f.next(out)
	return nil
}

func (f Files) files(now time.Time) ([]workspace.NewFile, error) {
	var files []workspace.NewFile
	if f.PRD {
		var err error
		if files, err = f.loop(now); err != nil {
			return nil, err
		}
	}
	if f.Proof { // a proof of a fork's pull request may write nothing, so another workflow publishes it
		for _, name := range []string{"proof", "proof-publish"} {
			files = append(files, f.workflow(workflowDir+"ralph-"+name+".yml", name+".yml"))
		}
	}
	if !f.GitHub {
		return files, nil
	}
	workflows, err := f.workflows()
	if err != nil {
		return nil, err
	}
	files = append(files, workflows...)
	return append(files, workspace.NewFile{
		Path: ".github/ISSUE_TEMPLATE/ralph.yml",
		Data: []byte(templates.Text("workflows/issue.yml")),
	}), nil
}

func (f Files) loop(now time.Time) ([]workspace.NewFile, error) {
	if err := checkFeature(f.Name); err != nil {
		return nil, err
	}
	memory := workspace.Memory{Dir: f.RalphDir}
	begin := Beginning{
		Project: filepath.Base(f.ProjectDir),
		Memory:  memory,
		Feature: f.Name,
		Now:     now,
	}
	files, err := begin.NewFiles()
	if err != nil {
		return nil, err
	}
	return append(files, workspace.NewFile{
		Path: memory.PromptFile(),
		Data: []byte(f.withRalphDir(templates.Text("start/prompt.md"))),
	}), nil
}

// checkFeature refuses what git would refuse as a branch, before anything is written.
func checkFeature(name string) error {
	if name == "" {
		return nil
	}
	if err := git.CheckBranch("ralph/" + name); err != nil {
		return fault.Usage("invalid feature name", "try --name "+plan.Slug(name, 40), err)
	}
	return nil
}

// Beginning is what a loop begins with.
type Beginning struct {
	Project string
	Memory  workspace.Memory
	Feature string // empty: the template's
	Now     time.Time
}

// logHead is the line of a log with what the loop is about, as NewFiles writes it.
var logHead = pattern.Of(`(?m)^PRD: (.+?)(?: \(([^()\n]+)\))?$`)

// Begun returns the project and branch that NewFiles wrote, from the log if a shell has emptied the PRD.
func Begun(project string) plan.Plan {
	names := workspace.Memory{Dir: workspace.MemoryDir}.Files()
	data, _ := workspace.ReadFile(filepath.Join(project, names[0])) // no file says nothing
	if len(bytes.TrimSpace(data)) > 0 {
		var begun plan.Plan
		_ = json.Unmarshal(data, &begun)
		return begun
	}
	log, _ := workspace.ReadFile(filepath.Join(project, names[1]))
	head := logHead.FindStringSubmatch(string(log))
	if head == nil {
		return plan.Plan{}
	}
	begun := plan.Plan{Project: head[1]}
	feature := head[2]
	if feature != "" && checkFeature(feature) == nil {
		begun.BranchName = "ralph/" + feature
	}
	return begun
}

// NewFiles returns a PRD to fill in, and a log without entries.
func (b Beginning) NewFiles() ([]workspace.NewFile, error) {
	prd, err := b.prd()
	if err != nil {
		return nil, fmt.Errorf("make a PRD: %w", err)
	}
	about := b.Project
	if b.Feature != "" {
		about += " (" + b.Feature + ")"
	}
	year, month, day := b.Now.Date()
	progress := prompt.ProgressLog(journal.Run{
		// The date that people see on their calendar, wherever they are.
		Clock: journal.Clock{Began: time.Date(year, month, day, 0, 0, 0, 0, time.UTC)},
		Plan:  plan.Plan{Project: about},
	})
	names := b.Memory.Files()
	return []workspace.NewFile{{Path: names[0], Data: prd}, {Path: names[1], Data: []byte(progress)}}, nil
}

func (b Beginning) prd() ([]byte, error) {
	var prd plan.Plan
	if err := json.Unmarshal([]byte(templates.Text("start/prd.json")), &prd); err != nil {
		return nil, err
	}
	prd.Project = b.Project
	if b.Feature != "" {
		prd.BranchName = "ralph/" + b.Feature
	}
	return prd.Marshal()
}

// ignore keeps this machine's runs out of git. The settings are for everybody.
func (f Files) ignore(to io.Writer) error {
	if !f.PRD {
		return nil
	}
	added, err := workspace.AddLines(f.ProjectDir, ".gitignore", ".ralph-active", ".ralph/*", "!.ralph/settings.json")
	if err != nil || len(added) == 0 {
		return err
	}
	_, err = fmt.Fprintln(to, "added to .gitignore:", strings.Join(added, " "))
	return err
}

// next prints what is left to do.
func (f Files) next(to io.Writer) {
	for _, step := range []struct {
		path   string
		needed bool
	}{
		{"start/next.txt", f.PRD},
		{"workflows/next.txt", f.GitHub},
		{"workflows/next-proof.txt", f.Proof},
		{"workflows/next-host.txt", f.OnGitHub() && f.host() && f.proposal.tools == nil},
		{"workflows/next-app.txt", f.App != ""},
		{"workflows/next-unreleased.txt", f.OnGitHub() && f.Pin == ""},
	} {
		if step.needed {
			fmt.Fprint(to, f.withRalphDir(templates.Text(step.path)))
		}
	}
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

// withRalphDir returns a text of ours with the loop's folder, if that has another name.
func (f Files) withRalphDir(text string) string {
	if f.RalphDir == workspace.MemoryDir {
		return text
	}
	folder := path.Clean(f.RalphDir) + "/"
	flag := " --ralph-dir " + f.RalphDir
	return strings.NewReplacer(
		"`ralph/", "`"+folder,
		" ralph/", " "+folder,
		"git add ralph ", "git add "+f.RalphDir+" ",
		": ralph run", ": ralph run"+flag,
		": ralph archive", ": ralph archive"+flag,
	).Replace(text)
}
