package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/workspace"
	"github.com/ralph-loop/ralph/templates"
)

type initCommand struct {
	ProjectDir string `short:"d" default:"." type:"path" placeholder:"DIR" help:"The project."`
	PRD        bool   `name:"prd" help:"Make ralph/ with a PRD, a prompt and a progress log to fill in."`
	RalphDir   string `placeholder:"DIR" help:"Where to make that, in the project: ralph. Implies --prd."`
	Name       string `placeholder:"FEATURE" help:"What the PRD is about: its branch is ralph/FEATURE. Implies --prd."`
	GitHub     bool   `name:"github" help:"Make the workflow and the issue form by which GitHub starts ralph."`
	Host       *bool  `negatable:"" help:"Have that workflow run ralph on the machine itself, with its tools and those of setup-go and the like, or with --no-host in a container that has git, sh and agents alone. As the project's checks need it when not given. Implies --github."`
	App        string `placeholder:"NAME" help:"Have it started by the GitHub App of that name, which ralph serve is the server of, and by nothing else. Implies --github."`
}

// Help gives the examples.
func (initCommand) Help() string {
	return `Without flags it asks for the settings and writes .ralph/settings.json; for that
it needs a terminal. With flags it asks nothing, and overwrites nothing.

Examples:

  ralph init
  ralph init --prd --name login
  ralph init --github
  ralph init --github --host`
}

func (initCommand) guarded() bool { return false }

func (c initCommand) run(ctx context.Context, w world) (int, error) {
	if c.Name != "" || c.RalphDir != "" {
		c.PRD = true
	}
	if c.Host != nil || c.App != "" {
		c.GitHub = true
	}
	if !c.GitHub && !c.PRD {
		return c.settings(ctx, w)
	}
	memory, err := memoryIn(c.ProjectDir, c.RalphDir)
	if err != nil {
		return 0, err
	}
	c.RalphDir = filepath.ToSlash(memory)
	sheets, err := c.sheets(w.now())
	if err != nil {
		return 0, err
	}
	if err := workspace.Scaffold(c.ProjectDir, sheets); err != nil {
		return 0, err
	}
	for _, sheet := range sheets {
		fmt.Fprintln(w.stdout, "wrote", sheet.Path)
	}
	if err := c.ignore(w.stdout); err != nil {
		return 0, err
	}
	return fault.ExitDone, c.next(w)
}

// ignore keeps out of git what only this machine's runs are made of. The
// settings are for everybody.
func (c initCommand) ignore(to io.Writer) error {
	if !c.PRD {
		return nil
	}
	added, err := workspace.Ignore(c.ProjectDir, ".ralph-active", ".ralph/*", "!.ralph/settings.json")
	if err != nil || len(added) == 0 {
		return err
	}
	_, err = fmt.Fprintln(to, "added to .gitignore:", strings.Join(added, " "))
	return err
}

// next says what is left to do by hand.
func (c initCommand) next(w world) error {
	c.mind(w.stderr)
	for _, part := range []struct {
		path  string
		asked bool
	}{{"start/next.txt", c.PRD}, {"workflows/next.txt", c.GitHub}, {"workflows/next-host.txt", c.GitHub && c.host()}, {"workflows/next-app.txt", c.App != ""}} {
		if !part.asked {
			continue
		}
		text, err := templates.Files.ReadFile(part.path)
		if err != nil {
			return err
		}
		if _, err := w.stdout.Write(c.placed(text)); err != nil {
			return err
		}
	}
	return nil
}

// mind warns of files that lie where nobody will look for them: not at the top of
// a checkout.
func (c initCommand) mind(to io.Writer) {
	if _, err := os.Lstat(filepath.Join(c.ProjectDir, ".git")); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	if c.PRD {
		remedy := "make the PRD in one, as git init or git clone makes it"
		if top := git.Around(c.ProjectDir); top != c.ProjectDir {
			remedy = "make the PRD in " + top
		}
		fmt.Fprintf(to, "mind: ralph run works on stories at the top of a checkout, and %s is none: %s\n", c.ProjectDir, remedy)
	}
	if c.GitHub {
		fmt.Fprintf(to, "mind: GitHub looks for .github at the top of a repository, and %s is none\n", c.ProjectDir)
	}
}

// placed is a text of ours about the loop's folder, where that has another
// name.
func (c initCommand) placed(text []byte) []byte {
	if c.RalphDir == workspace.MemoryDir {
		return text
	}
	there := " --ralph-dir " + c.RalphDir
	return []byte(strings.NewReplacer(
		"`ralph/", "`"+path.Clean(c.RalphDir)+"/", " ralph/", " "+path.Clean(c.RalphDir)+"/", "git add ralph ", "git add "+c.RalphDir+" ",
		": ralph run", ": ralph run"+there, ": ralph archive", ": ralph archive"+there,
	).Replace(string(text)))
}
