// Package checkout makes clean checkouts of commits, with some files replaced, runs setup and the checks there in the
// sandbox, and reports events. Package proof decides what runs where. Runs, `ralph prove` and `ralph doctor
// --checks` use the same code.
package checkout

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
	"github.com/ralph-loop/ralph/internal/proof/check"
	"github.com/ralph-loop/ralph/internal/proof/proof"
	"github.com/ralph-loop/ralph/internal/proof/results"
	"github.com/ralph-loop/ralph/internal/proof/suite"
)

// Clean makes clean checkouts of a repository's commits, one at a time and all at one path.
type Clean struct {
	Trusted *git.Trusted
	Home    string           // git's home, which git inside the sandbox reads
	Dir     string           // the folder of the checkouts
	Sandbox *confine.Sandbox // of setup and checks; may be nil
	Hand    check.Hand       // runs commands, and stores their output
	Secrets []string         // variables only for checks
	Logs    workspace.Folder // the output
	Log     func(line string)
	Kept    Kept
	InJob   bool // no agent reaches Logs, and a run of another machine has none there

	installed installed
	newest    *git.Tree          // the newest checkout, if setup need not run again in it; may be nil
	readers   map[string]*reader // by commit
	isSetUp   bool               // setup has ended at the base
}

type emit = func(journal.Event)

// Prover returns a prover that runs here.
func (c *Clean) Prover() proof.Prover {
	p := proof.Prover{
		Run:     c.Run,
		Change:  c.Change,
		Results: c.Results,
		Call:    c.Call,
		Text:    c.Text,
		With:    c.With,
	}
	if c.Kept.Dir != "" {
		p.Baselines = baselines{c}
	}
	return p
}

// Run makes a clean checkout, runs setup in it unless an earlier one installed the same, and then the checks.
func (c *Clean) Run(ctx context.Context, run journal.Run, at proof.Place, emit emit) (proof.Outcome, error) {
	var seen proof.Outcome
	tree, ready, err := c.open(ctx, run, at)
	if err != nil {
		return seen, err
	}
	defer c.leave(ctx, run, at.Where == journal.AtBase && at.Checkout == run.Base)
	take := func(event journal.Event) {
		switch e := event.(type) { //nolint:gochecksumtype // checkouts have no other events
		case journal.SetupEnded:
			if seen.Unready == "" {
				seen.Unready = e.Failure()
			}
		case journal.CheckEnded:
			seen.Checks = append(seen.Checks, e)
		}
		emit(event)
	}
	if !ready && len(run.Policy.Setup) > 0 && len(run.Policy.Checks) > 0 {
		err := c.setUp(ctx, run, at, take)
		if err != nil || seen.Unready != "" {
			return seen, err
		}
	}
	if at.AfterSetup != "" {
		if _, err := tree.Ask(ctx, "checkout", "-q", "--force", "--detach", at.AfterSetup); err != nil {
			return seen, fmt.Errorf("check out %.12s: %w", at.AfterSetup, err)
		}
	}
	if c.installed.key != "" || len(run.Policy.Setup) == 0 {
		c.newest = tree
	}
	err = c.check(ctx, run, at, take)
	return seen, err
}

// open makes a clean checkout, or switches the newest one to another commit. What the project ignores stays there, as
// compilers keep their work in such folders.
func (c *Clean) open(ctx context.Context, run journal.Run, at proof.Place) (tree *git.Tree, ready bool, err error) {
	if !at.Same || c.newest == nil {
		return c.checkOut(ctx, run, at.Checkout)
	}
	if _, err := c.newest.Ask(ctx, "checkout", "-q", "--force", "--detach", at.Checkout); err != nil {
		return c.checkOut(ctx, run, at.Checkout) // a test broke the repository
	}
	clean := []string{"clean", "-q", "-ffd"}
	for _, folder := range dependencyFolders {
		clean = append(clean, "--exclude="+folder)
	}
	if _, err := c.newest.Ask(ctx, clean...); err != nil {
		return c.checkOut(ctx, run, at.Checkout)
	}
	return c.newest, true, nil
}

// CheckOut makes a clean checkout in which nothing runs.
func (c *Clean) CheckOut(ctx context.Context, run journal.Run, commit string) (dir string, err error) {
	_, _, err = c.checkOut(ctx, run, commit)
	return c.Dir, err
}

// checkOut makes a clean checkout with a new home. It reports whether it has what setup would install.
func (c *Clean) checkOut(ctx context.Context, run journal.Run, commit string) (tree *git.Tree, ready bool, err error) {
	kept, err := c.keepInstalled(ctx, run, commit)
	if err != nil {
		return nil, false, err
	}
	if err := c.clear(); err != nil {
		return nil, false, fmt.Errorf("clear %s: %w", c.Dir, err)
	}
	if err := c.Sandbox.Lend(ctx, c.Dir, "."); err != nil {
		return nil, false, err
	}
	tree, err = c.Trusted.Clone(ctx, git.CloneSpec{Dir: c.Dir, SHA: commit, Run: c.git()})
	if err != nil {
		return nil, false, err
	}
	c.newest = nil
	c.isSetUp = false
	return tree, kept, c.putInstalled(kept)
}

func (c *Clean) clear() error {
	if err := untrusted.RemoveAll(c.Dir); err != nil {
		return err
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return err
	}
	return c.Sandbox.NewProof()
}

// leave ends what runs in a checkout, and keeps the caches of the base. The next checkout removes it.
func (c *Clean) leave(ctx context.Context, run journal.Run, base bool) {
	note := func(err error) {
		if err != nil {
			c.Log("could not clear the clean checkout: " + err.Error())
		}
	}
	note(c.Sandbox.Sweep())
	if !base {
		return
	}
	note(c.Sandbox.LeaveBase())
	if c.isSetUp {
		c.saveCaches(ctx, run)
	}
}

// git returns how git runs in the checkout: in the sandbox, without network. Without a sandbox it is nil.
func (c *Clean) git() git.Run {
	if c.Sandbox == nil {
		return nil
	}
	return git.Run(c.Sandbox.Around(confine.Access{
		Write: []string{c.Dir},
		Read:  append(c.Trusted.Lent(), c.Home),
		Alone: true,
	}))
}

func (c *Clean) setUp(ctx context.Context, run journal.Run, at proof.Place, emit emit) error {
	defer c.Sandbox.Flush(emit)
	ready, err := c.hand(true).Setup(ctx, c.job(ctx, run, at), run.Policy.Setup, emit)
	if err != nil || !ready {
		return err
	}
	c.isSetUp = at.Where == journal.AtBase
	return c.noteInstalled(ctx, run, at.Checkout)
}

func (c *Clean) check(ctx context.Context, run journal.Run, at proof.Place, emit emit) error {
	hand := c.hand(false)
	defer c.Sandbox.Flush(emit)
	hand.Env = slices.Concat(hand.Env, c.Secrets)
	job := c.job(ctx, run, at)
	limited := slices.ContainsFunc(job.Checks, func(check policy.Check) bool { return check.Paths != "" })
	if at.Where != journal.AtBase && limited {
		changed, err := c.Trusted.ChangedPaths(ctx, git.Span{From: run.Base, To: at.Commit})
		if err != nil {
			return err
		}
		job.Skip = func(check policy.Check) bool { return proof.Skips(check, changed) }
	}
	return hand.Do(ctx, job, emit)
}

// hand returns what runs commands in a checkout, in the sandbox if there is one.
func (c *Clean) hand(setup bool) check.Hand {
	hand := c.Hand
	if c.Sandbox == nil {
		return hand
	}
	hand.Run = c.Sandbox.Around(confine.Access{
		Write: []string{c.Dir},
		Read:  c.Trusted.Lent(),
		Proof: true,
		Setup: setup,
	})
	hand.Env = c.Sandbox.Env(c.Hand.Env, true)
	return hand
}

func (c *Clean) job(ctx context.Context, run journal.Run, at proof.Place) check.Job {
	return check.Job{
		Where:   at.Where,
		Dir:     filepath.Join(c.Dir, filepath.FromSlash(run.Policy.Subfolder)),
		Commit:  at.Commit,
		Label:   label(run, at),
		Checks:  run.Policy.Checks,
		Excerpt: run.Policy.Excerpt,
		Only:    at.Only,
		Second:  at.Second,
		Files:   at.Files,
		Call:    func(command string) (suite.Call, error) { return c.Call(ctx, run, command) },
		Reports: func(string) (string, func() (results.Results, error), error) { return c.reports(ctx, run) },
	}
}

// label names the logs of a place. An iteration can prove more than one commit, and a verifier has no iterations.
func label(run journal.Run, at proof.Place) string {
	if at.Where == journal.AtBase && at.Commit == run.Base {
		return "base"
	}
	number := 0
	if n := len(run.Iterations); n > 0 {
		number = run.Iterations[n-1].Number
	}
	text := fmt.Sprintf("%d_%s", number, at.Where)
	if at.Number > 0 {
		text += strconv.Itoa(at.Number)
	}
	return fmt.Sprintf("%s_%.7s", text, at.Commit)
}
