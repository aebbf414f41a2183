//go:build !windows

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/sweep"
)

type gcCommand struct {
	Repo      string          `placeholder:"OWNER/NAME" help:"Repository (default: GITHUB_REPOSITORY, else the remote origin). The token is GITHUB_TOKEN or GH_TOKEN."`
	OlderThan policy.Duration `placeholder:"TIME" default:"90d" help:"Delete state older than this, such as 90d or 36h."`
	DryRun    bool            `help:"List what would be deleted, and delete nothing."`
	JSON      bool            `name:"json" help:"Print the result as one JSON object."`
}

func (gcCommand) Help() string {
	return `ralph saves each run on GitHub in a ref such as refs/ralph/issue-7, so that any
machine can continue it. This command deletes old refs. It keeps refs of running
jobs, and never touches a branch.

Examples:

  ralph gc --repo octo/greeter --dry-run
  ralph gc --older-than 30d`
}

func (c gcCommand) run(ctx context.Context, w world) (int, error) {
	at, err := w.repository(ctx, c.Repo, ".")
	if err != nil {
		return 0, err
	}
	tool, done, err := w.SoundGit(ctx, ".")
	if err != nil {
		return 0, err
	}
	defer done()
	tool.Proxy, tool.CA = egress.Around(at.clone()), cmp.Or(w.Getenv("GIT_SSL_CAINFO"), w.Getenv("SSL_CERT_FILE"))
	store, err := tool.Init(ctx, filepath.Join(tool.Home, "kept.git"), "sha1")
	if err != nil {
		return 0, err
	}
	old := sweep.Sweep{
		Store: store, Remote: remote.Repository{URL: at.clone(), Token: remote.Token(at.token)}, Now: w.Now(), Age: time.Duration(c.OlderThan), Dry: c.DryRun,
	}
	swept, err := old.Do(ctx)
	if errors.Is(err, remote.ErrNetwork) {
		err = &fault.Fault{What: err.Error(), Fix: "check that this machine reaches " + at.server + ", through https_proxy if there is a proxy, and try again"}
	}
	if err != nil && len(swept) == 0 {
		return 0, err
	}
	return fault.ExitDone, errors.Join(err, c.tell(w.Stdout, swept)) // what is gone is told whatever came after
}

func (c gcCommand) tell(to io.Writer, swept []sweep.Swept) error {
	if c.JSON {
		return clean.JSON(to, map[string]any{"refs": append([]sweep.Swept{}, swept...)})
	}
	return tellSwept(to, swept)
}

func tellSwept(to io.Writer, swept []sweep.Swept) error {
	gone := 0
	for _, s := range swept {
		said := "removed"
		if s.Kept != "" {
			said = "kept: " + s.Kept
		} else {
			gone++
		}
		if _, err := fmt.Fprintf(to, "%s  %s  %s\n", s.At.Format(time.DateOnly), s.Ref, said); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(to, "%d of %d removed\n", gone, len(swept))
	return err
}

// repository is one on GitHub, and who we are there.
type repository struct{ owner, name, server, token string }

func (r repository) clone() string { return r.server + "/" + r.owner + "/" + r.name + ".git" }

// repository is the one that is named, else that of the job, else that of the remote
// origin of the project in dir.
func (w world) repository(ctx context.Context, named, dir string) (repository, error) {
	server, api := strings.TrimRight(w.Getenv("GITHUB_SERVER_URL"), "/"), strings.TrimRight(w.Getenv("GITHUB_API_URL"), "/")
	asked := cmp.Or(named, w.Getenv("GITHUB_REPOSITORY"))
	if asked == "" {
		asked = w.origin(ctx, dir, cmp.Or(server, publicServer))
	}
	if asked == "" {
		return repository{}, fault.Usage("no repository given, and the remote origin names none on "+cmp.Or(server, publicServer), "name it: --repo OWNER/NAME", nil)
	}
	owner, name, _ := strings.Cut(asked, "/")
	if owner == "" || name == "" || strings.Contains(name, "/") {
		return repository{}, fault.Usage(fmt.Sprintf("%q is not of the form owner/name", asked), "name the repository as in --repo octo/greeter", nil)
	}
	token := cmp.Or(w.Getenv("GITHUB_TOKEN"), w.Getenv("GH_TOKEN"), w.Getenv("INPUT_GITHUB-TOKEN"))
	if token == "" {
		return repository{}, fault.Usage("no GitHub token", "set GH_TOKEN, as in GH_TOKEN=$(gh auth token)", nil)
	}
	if server != "" && server != publicServer && api == "" || api != "" && api != github.PublicURL && server == "" {
		return repository{}, fault.Usage("only one of GITHUB_SERVER_URL and GITHUB_API_URL names a GitHub of your own",
			"set both; otherwise your token would go to github.com", nil)
	}
	return repository{owner, name, cmp.Or(server, publicServer), token}, nil
}

const publicServer = "https://github.com"

// remoteForm is the address of a remote: its host, and the owner and name there.
var remoteForm = pattern.Of(`^(?:(?:https?|ssh)://(?:[^/@]*@)?|[^/@:]+@)([^/:@]+)(?::\d+)?[:/]([^/]+/[^/]+?)(?:\.git)?/?$`)

// origin is owner/name of the remote origin, if that is on the server.
func (w world) origin(ctx context.Context, dir, server string) string {
	tool, done, err := w.SoundGit(ctx, dir)
	if err != nil {
		return ""
	}
	defer done()
	address, err := tool.Origin(ctx, dir)
	found := remoteForm.FindStringSubmatch(address)
	host, wrong := url.Parse(server)
	if err != nil || wrong != nil || found == nil || !strings.EqualFold(found[1], host.Hostname()) {
		return ""
	}
	return found[2]
}

type worktreeCommand struct {
	Clean worktreeCleanCommand `cmd:"" help:"Remove the worktrees that runs with --worktree left."`
}

func (worktreeCommand) Help() string { return "Example: ralph worktree clean" }

type worktreeCleanCommand struct {
	ProjectDir string `short:"d" default:"." type:"path" placeholder:"DIR" help:"Project directory (default: current directory)."`
}

func (worktreeCleanCommand) Help() string {
	return `Keeps worktrees with uncommitted work, and branches that are not merged into the
current one.

Example: ralph worktree clean`
}

func (c worktreeCleanCommand) run(ctx context.Context, w world) (int, error) {
	tool, done, err := w.SoundGit(ctx, c.ProjectDir)
	if err != nil {
		return 0, err
	}
	defer done()
	place, err := tool.Inspect(ctx, c.ProjectDir)
	if err != nil {
		return 0, err
	}
	release, err := alone(place.Top)
	if err != nil {
		return 0, err
	}
	defer release() //nolint:errcheck // nothing was written through it
	return c.clean(ctx, w, tool, place)
}

// clean takes away what it can, and tells of all of it.
func (worktreeCleanCommand) clean(ctx context.Context, w world, tool git.Git, place git.Place) (int, error) {
	all, err := tool.Worktrees(ctx, place)
	if err != nil {
		return 0, err
	}
	if len(all) == 0 {
		fmt.Fprintln(w.Stderr, "no worktree to remove")
	}
	code := fault.ExitDone
	for _, tree := range all {
		merged, err := tool.RemoveWorktree(ctx, place, tree)
		name := filepath.Base(tree.Dir)
		switch {
		case err != nil:
			code = report(w.Stderr, err)
		case merged || tree.Branch == "":
			fmt.Fprintln(w.Stdout, "removed", name, tree.Branch)
		default:
			fmt.Fprintf(w.Stdout, "removed %s; its branch is kept: git merge %s\n", name, tree.Branch)
		}
	}
	return code, nil
}
