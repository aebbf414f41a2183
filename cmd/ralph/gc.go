//go:build !windows

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/hub/aftercare"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/hub/ledger"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/redact"
	"github.com/ralph-loop/ralph/internal/run/job"
	"github.com/ralph-loop/ralph/internal/show/stats"
)

type gcCommand struct {
	Repo       string           `placeholder:"OWNER/NAME" help:"Repository (default: GITHUB_REPOSITORY, else the remote origin). The token is GITHUB_TOKEN or GH_TOKEN."`
	OlderThan  *policy.Duration `placeholder:"TIME" help:"Delete state older than this, such as 36h (default: 90d)."`
	DryRun     bool             `help:"List what would be deleted, and delete nothing."`
	JSON       bool             `name:"json" help:"Print the result as one JSON object."`
	ProjectDir string           `short:"d" default:"." type:"folder" placeholder:"DIR" help:"Project directory (default: current directory)."`
}

func (c gcCommand) run(ctx context.Context, w world) (int, error) { //nolint:unparam // every command has a code
	if c.Repo != "" { // before anything is deleted
		if _, err := w.repository(ctx, c.Repo, c.ProjectDir); err != nil {
			return 0, err
		}
	}
	removed, err := c.onMachine(ctx, w)
	if err != nil {
		return 0, err
	}
	outcome := "deleted"
	if c.DryRun {
		outcome = "would be deleted"
	}
	var text strings.Builder
	for _, name := range removed {
		fmt.Fprintln(&text, name, outcome)
	}
	var swept []aftercare.Swept
	if c.Repo == "" && w.token() == "" {
		fmt.Fprintln(w.Stderr, "note: nothing is deleted on GitHub: there is no token")
	} else {
		swept, err = c.onGitHub(ctx, w)
		if err == nil || len(swept) > 0 {
			text.WriteString(sweptText(swept))
		}
	}
	all := map[string]any{"here": append([]string{}, removed...), "refs": append([]aftercare.Swept{}, swept...)}
	return fault.ExitDone, errors.Join(err, w.show(c.JSON, all, text.String())) // also if a later step failed
}

// onMachine clears this machine of what runs left that no one can resume, and returns its names. Runs of other linked
// worktrees have refs in the same repository.
func (c gcCommand) onMachine(ctx context.Context, w world) ([]string, error) {
	removed, unfinished, err := workspace.SweepState(workspace.UserStateDir(w.Getenv("HOME")), w.Now(), c.DryRun)
	if err != nil {
		return removed, err
	}
	tool, err := w.Git(c.ProjectDir)
	if err != nil {
		return removed, err
	}
	place, err := tool.Inspect(ctx, c.ProjectDir)
	if err != nil {
		return removed, nil // there is no repository
	}
	release, err := lockRuns(place.Top)
	if err != nil {
		return removed, err
	}
	defer release() //nolint:errcheck // nothing was written through it
	// Names of jobs' runs have no time.
	refs, err := place.Ask(ctx, "for-each-ref", "--format=%(refname)", job.HeldRef("run-*T*.*"))
	if err != nil {
		return removed, err
	}
	for ref := range strings.FieldsSeq(refs) {
		if slices.Contains(unfinished, path.Base(ref)) {
			continue
		}
		if !c.DryRun {
			if _, err := place.Ask(ctx, "update-ref", "-d", ref); err != nil {
				return removed, err
			}
		}
		removed = append(removed, ref)
	}
	return removed, nil
}

func (c gcCommand) onGitHub(ctx context.Context, w world) ([]aftercare.Swept, error) {
	saved, err := w.savedState(ctx, c.Repo, c.ProjectDir)
	if err != nil {
		return nil, err
	}
	old := aftercare.Sweep{
		Store:  saved.store,
		Remote: saved.remote,
		Now:    w.Now(),
		Age:    policy.Given(c.OlderThan, policy.Duration(aftercare.Retention)).Std(),
		Dry:    c.DryRun,
	}
	return old.Do(ctx)
}

func sweptText(swept []aftercare.Swept) string {
	var text strings.Builder
	removed := 0
	for _, s := range swept {
		outcome := "removed"
		if s.Kept != "" {
			outcome = "kept: " + s.Kept
		} else {
			removed++
		}
		fmt.Fprintf(&text, "%s  %s  %s\n", s.At.Format(time.DateOnly), s.Ref, outcome)
	}
	fmt.Fprintf(&text, "%d of %d removed\n", removed, len(swept))
	return text.String()
}

type repository struct{ owner, name, server, token string }

func (r repository) clone() string { return r.server + "/" + r.owner + "/" + r.name + ".git" }

// repository returns the named one, else the job's, else that of the remote origin of the project in dir.
func (w world) repository(ctx context.Context, named, dir string) (repository, error) {
	server := strings.TrimRight(w.Getenv("GITHUB_SERVER_URL"), "/")
	api := strings.TrimRight(w.Getenv("GITHUB_API_URL"), "/")
	asked := cmp.Or(named, w.Getenv("GITHUB_REPOSITORY"))
	if asked == "" {
		asked = w.origin(ctx, dir, cmp.Or(server, publicServer))
	}
	if asked == "" {
		what := "no repository given, and no remote \"origin\" on " + cmp.Or(server, publicServer)
		return repository{}, fault.Usage(what, "name it: --repo OWNER/NAME", nil)
	}
	owner, name, _ := strings.Cut(asked, "/")
	if owner == "" || name == "" || strings.Contains(name, "/") {
		what := fmt.Sprintf("%q is not of the form owner/name", asked)
		return repository{}, fault.Usage(what, "name the repository as in --repo octo/greeter", nil)
	}
	token := w.token()
	if token == "" {
		return repository{}, fault.Usage("no GitHub token", "set GH_TOKEN, as in GH_TOKEN=$(gh auth token)", nil)
	}
	ownServer := server != "" && server != publicServer
	ownAPI := api != "" && api != github.PublicURL
	if (ownServer && api == "") || (ownAPI && server == "") {
		return repository{}, fault.Usage("only one of GITHUB_SERVER_URL and GITHUB_API_URL names a GitHub of your own",
			"set both; otherwise your token would go to github.com", nil)
	}
	return repository{owner, name, cmp.Or(server, publicServer), token}, nil
}

func (w world) token() string {
	return cmp.Or(w.Getenv("GITHUB_TOKEN"), w.Getenv("GH_TOKEN"), w.Getenv("INPUT_GITHUB-TOKEN"))
}

const publicServer = "https://github.com"

// remoteForm is the address of a remote: its host, and the owner and name there.
var remoteForm = pattern.Of(`^(?:(?:https?|ssh)://(?:[^/@]*@)?|[^/@:]+@)([^/:@]+)(?::\d+)?[:/]` +
	`([^/]+/[^/]+?)(?:\.git)?/?$`)

func (w world) origin(ctx context.Context, dir, server string) string {
	tool, err := w.SoundGit(ctx, dir)
	if err != nil {
		return ""
	}
	address, err := tool.Origin(ctx, dir)
	if err != nil {
		return ""
	}
	host, err := url.Parse(server)
	if err != nil {
		return ""
	}
	found := remoteForm.FindStringSubmatch(address)
	if found == nil || !strings.EqualFold(found[1], host.Hostname()) {
		return ""
	}
	return found[2]
}

// savedState is what a repository on GitHub keeps of all runs.
type savedState struct {
	store   *git.Trusted
	remote  remote.Repository
	account ledger.Account
}

func (w world) savedState(ctx context.Context, named, dir string) (savedState, error) {
	repo, err := w.repository(ctx, named, dir)
	if err != nil {
		return savedState{}, err
	}
	tool, err := w.SoundGit(ctx, dir)
	if err != nil {
		return savedState{}, err
	}
	tool.Proxy = egress.Around(repo.clone())
	tool.CA = cmp.Or(w.Getenv("GIT_SSL_CAINFO"), w.Getenv("SSL_CERT_FILE"))
	store, err := tool.Init(ctx, filepath.Join(tool.Home, "kept.git"), "sha1")
	if err != nil {
		return savedState{}, err
	}
	origin := remote.Repository{URL: repo.clone(), Token: redact.Secret(repo.token)}
	account := ledger.Account{Remote: origin, Store: store, Pause: context.Context.Err, Now: w.Now}
	return savedState{store: store, remote: origin, account: account}, nil
}

type statsCommand struct {
	Repo string `placeholder:"OWNER/NAME" help:"Repository (default: GITHUB_REPOSITORY, else the remote origin). The token is GITHUB_TOKEN or GH_TOKEN."`
	JSON bool   `name:"json" help:"Print the result as one JSON object."`
}

func (c statsCommand) run(ctx context.Context, w world) (int, error) { //nolint:unparam // every command has a code
	saved, err := w.savedState(ctx, c.Repo, ".")
	if err != nil {
		return 0, err
	}
	book, _, err := saved.account.Read(ctx)
	if err != nil {
		return 0, err
	}
	sums := stats.Of(book.Pulls)
	return fault.ExitDone, w.show(c.JSON, sums, sums.Text())
}
