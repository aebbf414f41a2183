// Package demo runs the Action on one machine, offline, on an issue of a
// simulated GitHub with a scripted agent, and prints what a maintainer would see.
package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/entry/action"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/shell"
	"github.com/ralph-loop/ralph/internal/run/job"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
	"github.com/ralph-loop/ralph/templates"
)

// The cast of the demo.
const (
	owner      = "octo"
	repository = "greeter"
	maintainer = "ada"
	token      = "ghs_demoTokenThatOnlyTheStandInKnows00" //nolint:gosec // the stand-in alone takes it
	full       = owner + "/" + repository
)

// Demo is one showing.
type Demo struct {
	Dir     string // where everything lies; made by the caller
	Keep    bool   // leave the repositories
	Self    string // the path of this program
	Version string // and its version
	Getenv  func(string) string
	Now     func() time.Time
	Exec    func(context.Context, process.Command) (process.Result, error)
	Log     io.Writer // what the Action's log would hold
	Every   time.Duration
	Out     io.Writer // gets the issue before the work begins; nil: it is not shown
}

// Shown is what a maintainer would see at the end.
type Shown struct {
	Outcome job.Outcome
	Comment string
	Pull    githubtest.Pull
	Log     string // the branch's history
	Journal string
	Calls   int // API calls made
}

// Play shows the demo.
func (d Demo) Play(ctx context.Context) (Shown, error) {
	if _, err := (git.Git{Run: d.Exec, Path: d.Getenv("PATH"), Home: d.Dir}).Version(ctx); err != nil {
		return Shown{}, err
	}
	server := &githubtest.Server{Now: d.Now, Git: d.git, Temp: d.Dir}
	if err := server.Start(); err != nil { //nolint:contextcheck // the server lives until Close
		return Shown{}, err
	}
	shown, err := d.play(ctx, server)
	err = errors.Join(err, server.Close())
	if d.Keep {
		return shown, err
	}
	return shown, errors.Join(err, os.RemoveAll(d.path("github")), os.RemoveAll(d.path("runner")))
}

func (d Demo) play(ctx context.Context, server *githubtest.Server) (Shown, error) {
	issue, err := d.stage(ctx, server)
	if err != nil {
		return Shown{}, fmt.Errorf("set the stage: %w", err)
	}
	env, err := d.event(server, issue) //nolint:contextcheck // the stand-in answers without one
	if err != nil {
		return Shown{}, fmt.Errorf("write the event: %w", err)
	}
	outcome, _, err := action.Action{
		Getenv: env.get, Out: quiet{d.Log}, Now: d.Now, Exec: d.Exec, Self: d.Self, Version: d.Version, Every: d.Every, Keep: d.Keep, Plain: true,
	}.Do(ctx)
	if err != nil {
		return Shown{}, err
	}
	return d.see(ctx, server, issue, outcome)
}

func (d Demo) path(parts ...string) string {
	return filepath.Join(append([]string{d.Dir}, parts...)...)
}

// see looks at GitHub as a maintainer would.
func (d Demo) see(ctx context.Context, server *githubtest.Server, issue int, outcome job.Outcome) (Shown, error) {
	shown := Shown{Outcome: outcome, Journal: outcome.Home.Journal()}
	for _, call := range server.Requests() {
		if !call.OfGit() {
			shown.Calls++
		}
	}
	for _, comment := range server.Comments(full, issue) {
		shown.Comment = comment.Body
	}
	for _, pull := range server.Pulls(full) {
		shown.Pull = pull
	}
	if d.Keep {
		if err := errors.Join(write(d.path("comment.md"), []byte(shown.Comment)), write(d.path("pull.md"), []byte("# "+shown.Pull.Title+"\n\n"+shown.Pull.Body))); err != nil {
			return shown, err
		}
	}
	log, err := d.git(ctx, d.bare(), "log", "--format=%h %s", "main.."+outcome.Run.Branch)
	shown.Log = log
	return shown, err
}

func (d Demo) bare() string { return d.path("github", repository+".git") }

// git runs git for the people in this play, who trust each other.
func (d Demo) git(ctx context.Context, dir string, args ...string) (string, error) {
	var out, complaint bytes.Buffer
	result, err := d.Exec(ctx, process.Command{
		Argv: append([]string{"git"}, args...), Dir: dir, Env: d.people(), Stdout: &out, Stderr: &complaint,
		Timeout: time.Minute,
	})
	if err == nil && result.Exit != 0 {
		err = fmt.Errorf("git %s: exit %d: %s", args[0], result.Exit, strings.TrimSpace(complaint.String()))
	}
	return out.String(), err
}

// people returns the environment of a person's git, without what is on this
// machine.
func (d Demo) people() []string {
	return []string{
		"PATH=" + d.Getenv("PATH"), "HOME=" + d.Dir, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com",
	}
}

func text(name string) ([]byte, error) {
	data, err := templates.Files.ReadFile("demo/" + name)
	if err != nil {
		return nil, fmt.Errorf("read the demo: %w", err)
	}
	return data, nil
}

// Folder returns an empty folder for a demo: a new one where none is named.
func Folder(named string) (string, error) {
	if named == "" {
		return os.MkdirTemp("", "ralph-demo-")
	}
	if err := os.MkdirAll(named, 0o755); err != nil {
		return "", err
	}
	there, err := os.ReadDir(named)
	if err == nil && len(there) > 0 {
		err = fmt.Errorf("%s is not empty", named)
	}
	return named, err
}

// Name returns how a shell starts the program self: by name where it is on PATH.
func Name(self string, env []string) string {
	if found, err := process.LookUp("ralph", "", env); err == nil {
		if path, err := filepath.EvalSymlinks(found); err == nil && path == self {
			return "ralph"
		}
	}
	return shell.Quote(self)
}

// Print prints what a maintainer would see, and the next commands of the program name;
// keep adds where the repositories are.
func (s Shown) Print(to io.Writer, name string, keep bool, took time.Duration) error {
	state := "ready for review"
	if s.Pull.Draft {
		state = "draft"
	}
	dir := filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(s.Journal))))
	text := section("The progress comment on the issue", terminal(s.Comment)) +
		section(fmt.Sprintf("Pull request #%d, %s: %s", s.Pull.Number, state, s.Pull.Title), terminal(s.Pull.Body)) +
		section("The branch "+s.Pull.Head, s.Log) +
		fmt.Sprintf("\nTook %s and %d calls to GitHub's API. Journal: %s\n", took.Round(10*time.Millisecond), s.Calls, s.Journal)
	if keep {
		text += "Repositories: " + dir + "\n"
	}
	folder := shell.Quote(dir)
	text += "\nNext:\n  " + name + " report -d " + folder + " -o report.html   # the report of this run\n" +
		"  " + name + " init --github   # in your own repository: write the workflow\n" +
		"  rm -r " + folder + "   # remove the files of this demo\n"
	_, err := io.WriteString(to, text)
	return err
}

func section(title, text string) string {
	rule := strings.Repeat("─", max(0, 76-len([]rune(title))))
	return fmt.Sprintf("\n── %s %s\n\n%s\n", title, rule, strings.Trim(text, "\n"))
}

// quiet leaves out the commands that a log has for the runner, such as masks.
type quiet struct{ io.Writer }

func (q quiet) Write(line []byte) (int, error) {
	if bytes.HasPrefix(line, []byte("::")) {
		return len(line), nil
	}
	return q.Writer.Write(line)
}
