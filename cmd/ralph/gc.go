package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/action"
	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/policy"
)

type gcCommand struct {
	Repo      string `placeholder:"OWNER/NAME" help:"The repository, if not that of GITHUB_REPOSITORY. The token is GITHUB_TOKEN or GH_TOKEN."`
	OlderThan age    `placeholder:"AGE" default:"90d" help:"Remove what nobody has written to for so long: 90d, 36h."`
	DryRun    bool   `help:"Tell what would go, and remove nothing."`
	Export    string `placeholder:"FILE" help:"First add the journals of what goes to FILE, as JSON lines."`
	JSON      bool   `name:"json" help:"Print it as one JSON object."`
}

// Help gives the examples.
func (gcCommand) Help() string {
	return `On GitHub each run is kept on a ref of its own, refs/ralph/issue-7, so that any
machine can go on with it. This removes old ones. One that a job is at work on
stays, and so does one that is written to meanwhile. It never touches a branch.

Examples:

  ralph gc --repo octo/greeter --dry-run
  ralph gc --older-than 30d --export audit.jsonl`
}

func (gcCommand) guarded() bool { return false }

// age is a duration that may be in days.
type age time.Duration

// UnmarshalText reads 90d, and what other durations are written as.
func (a *age) UnmarshalText(text []byte) error {
	if days, is := strings.CutSuffix(string(text), "d"); is {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			*a = age(time.Duration(n) * 24 * time.Hour)
			return nil
		}
	}
	d, err := policy.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is no age: write it as 90d or 36h", text)
	}
	*a = age(d)
	return nil
}

func (c gcCommand) run(ctx context.Context, w world) (int, error) {
	at, err := w.repository(c.Repo)
	if err != nil {
		return 0, err
	}
	tool, done, err := w.SoundGit(ctx, ".")
	if err != nil {
		return 0, err
	}
	defer done()
	tool.Proxy, tool.CA = egress.Around(at.clone()), cmp.Or(w.Getenv("GIT_SSL_CAINFO"), w.Getenv("SSL_CERT_FILE"))
	store, err := tool.Store(ctx, filepath.Join(tool.Home, "kept.git"))
	if err != nil {
		return 0, err
	}
	sweep := action.Sweep{
		Store: store, Remote: git.Remote{URL: at.clone(), Token: git.Token(at.token)}, Now: w.Now(), Age: time.Duration(c.OlderThan), Dry: c.DryRun,
	}
	if c.Export != "" && !c.DryRun {
		file, err := os.OpenFile(c.Export, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			return 0, fault.Usage("cannot write "+c.Export, "name another file with --export", err)
		}
		defer file.Close() //nolint:errcheck // each journal is synced before its run goes
		sweep.Export = func(_ string, journal []byte) error { return exported(file, journal) }
	}
	swept, err := sweep.Do(ctx)
	if errors.Is(err, git.ErrNetwork) {
		err = &fault.Fault{What: err.Error(), Fix: "see to it that this machine reaches " + at.server + ", by https_proxy where there is a proxy, and try again"}
	}
	if err != nil && len(swept) == 0 {
		return 0, err
	}
	return fault.ExitDone, errors.Join(err, c.tell(w.Stdout, swept)) // what is gone is told whatever came after
}

func (c gcCommand) tell(to io.Writer, swept []action.Swept) error {
	if c.JSON {
		return clean.JSON(to, map[string]any{"refs": append([]action.Swept{}, swept...)})
	}
	return tellSwept(to, swept)
}

// exported puts a journal into a file, for good.
func exported(file *os.File, journal []byte) error {
	err := audit(file, journal)
	if err == nil {
		err = file.Sync()
	}
	if err != nil {
		return fmt.Errorf("export a journal: %w", err)
	}
	return nil
}

func tellSwept(to io.Writer, swept []action.Swept) error {
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

// repository is the one that is named, else that of the job.
func (w world) repository(named string) (repository, error) {
	asked := cmp.Or(named, w.Getenv("GITHUB_REPOSITORY"))
	if asked == "" {
		return repository{}, fault.Usage("which repository is not said", "name it: --repo OWNER/NAME", nil)
	}
	owner, name, _ := strings.Cut(asked, "/")
	if owner == "" || name == "" || strings.Contains(name, "/") {
		return repository{}, fault.Usage(fmt.Sprintf("%q is no owner/name", asked), "name the repository as in --repo octo/greeter", nil)
	}
	token := cmp.Or(w.Getenv("GITHUB_TOKEN"), w.Getenv("GH_TOKEN"), w.Getenv("INPUT_GITHUB-TOKEN"))
	if token == "" {
		return repository{}, fault.Usage("there is no token to ask with", "set GH_TOKEN, as in GH_TOKEN=$(gh auth token)", nil)
	}
	server, api := strings.TrimRight(w.Getenv("GITHUB_SERVER_URL"), "/"), strings.TrimRight(w.Getenv("GITHUB_API_URL"), "/")
	if server != "" && server != publicServer && api == "" || api != "" && api != github.PublicURL && server == "" {
		return repository{}, fault.Usage("only one of GITHUB_SERVER_URL and GITHUB_API_URL names a GitHub of your own",
			"set both, or github.com is shown its token", nil)
	}
	return repository{owner, name, cmp.Or(server, publicServer), token}, nil
}

const publicServer = "https://github.com"
