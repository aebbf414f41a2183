// Package checkout makes clean checkouts of commits, with some files replaced,
// runs setup and the checks there in the sandbox, and reports events. Package
// proof decides what runs where. Runs, `ralph prove` and `ralph doctor
// --checks` use the same code.
package checkout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/proof"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// Clean makes clean checkouts of a repository's commits, one at a time.
type Clean struct {
	Trusted  *git.Trusted     // it is no user's own: see git.Trusted.Copy
	Home     string           // git's home, which git inside the sandbox reads
	Dir      string           // the folder of the checkout, removed after use
	Sandbox  *confine.Sandbox // of setup and checks; may be nil
	Hand     check.Hand       // runs commands, and stores their output
	Secrets  []string         // variables only for checks
	Logs     workspace.Folder // the output
	Log      func(line string)
	Kept     Kept
	InJob    bool            // no agent reaches Logs, and a run of another machine has none there
	Removals *sync.WaitGroup // the removals of checkouts in the background; nil: in the foreground

	late  bool // the checkout gets files after setup, so that it is not the base's
	ready bool // setup has ended at the base
	known definitions
}

type emit = func(journal.Event)

// Prover returns a prover that runs here.
func (c *Clean) Prover(stories Stories) proof.Prover {
	t := tests{c, stories}
	p := proof.Prover{Checkout: c.Checkout, Setup: c.setup, Check: c.check, Restore: c.restore, Stand: c.stand, Tests: t, Changes: t}
	if c.Kept.Dir != "" {
		p.Baselines = baselines{c}
	}
	p.Ahead = &proof.Ahead{Beside: c.beside}
	return p
}

// beside returns a prover with a checkout of its own, to run at the same time, if the sandbox
// can separate both. Checks with secrets may share what these are for, so they run alone.
// From now on both checkouts have random names, so that no name tells which of them this is.
func (c *Clean) beside() (proof.Prover, bool) {
	sb, is := c.Sandbox.Second()
	if !is || len(c.Secrets) > 0 {
		return proof.Prover{}, false
	}
	c.wait()
	other := *c
	other.Sandbox, other.Hand.Began, other.Removals = sb, nil, nil
	for _, dir := range []*string{&c.Dir, &other.Dir} {
		*dir = filepath.Join(filepath.Dir(c.Dir), "clean-"+confine.RandomName())
	}
	other.Log = func(string) {} // the next checkout reports what could not be removed
	return proof.Prover{Checkout: other.Checkout, Setup: other.setup, Check: other.check}, true
}

// Checkout makes a clean checkout, with a new home and copies of the caches that the base's checks filled.
func (c *Clean) Checkout(ctx context.Context, run journal.Run, commit string) (string, func(), error) {
	c.wait()
	if err := errors.Join(untrusted.RemoveAll(c.Dir), os.MkdirAll(c.Dir, 0o755), c.Sandbox.NewProof()); err != nil {
		return "", nil, fmt.Errorf("clear %s: %w", c.Dir, err)
	}
	if err := c.Sandbox.Lend(ctx, c.Dir, "."); err != nil {
		return "", nil, err
	}
	if _, err := c.Trusted.Clone(ctx, git.CloneSpec{Dir: c.Dir, SHA: commit, Run: c.git()}); err != nil {
		return "", nil, err
	}
	c.late, c.ready = false, false
	return c.Dir, func() { c.leave(ctx, run, commit == run.Base && !c.late) }, nil
}

// wait waits until no checkout is removed.
func (c *Clean) wait() {
	if c.Removals != nil {
		c.Removals.Wait()
	}
}

// leave removes a checkout, and keeps the caches of the base.
func (c *Clean) leave(ctx context.Context, run journal.Run, base bool) {
	note := func(err error) {
		if err != nil {
			c.Log("could not clear the clean checkout: " + err.Error())
		}
	}
	note(c.Sandbox.Sweep())
	if base {
		note(c.Sandbox.LeaveBase())
		if c.ready {
			c.saveCaches(ctx, run)
		}
	}
	if c.Removals == nil {
		note(untrusted.RemoveAll(c.Dir))
		return
	}
	c.Removals.Go(func() { _ = untrusted.RemoveAll(c.Dir) }) // an error comes again at the next checkout
}

// git returns how git runs in the checkout: in the sandbox, without network. Without a sandbox it is nil.
func (c *Clean) git() git.Run {
	if c.Sandbox == nil {
		return nil
	}
	return git.Run(c.Sandbox.Around(confine.Access{Write: []string{c.Dir}, Read: append(c.Trusted.Lent(), c.Home), Alone: true}))
}

// setup runs the setup commands, restores the tests and check definitions that they changed, and adds late files.
func (c *Clean) setup(ctx context.Context, run journal.Run, at proof.Place, emit emit) error {
	c.late = len(at.Late) > 0
	hand, before, err := c.hand(ctx, run, at, true)
	if err != nil {
		return err
	}
	defer c.Sandbox.Flush(emit)
	if ready, err := hand.Setup(ctx, jobAt(run, at), run.Policy.Setup, emit); err != nil || !ready {
		return err
	}
	c.ready = at.Where == journal.AtBase
	return before.restore(ctx, emit)
}

func (c *Clean) check(ctx context.Context, run journal.Run, at proof.Place, emit emit) error {
	hand, before, err := c.hand(ctx, run, at, false)
	if err != nil {
		return err
	}
	defer c.Sandbox.Flush(emit)
	hand.Env = slices.Concat(hand.Env, c.Secrets)
	job := jobAt(run, at)
	if at.Where != journal.AtBase && slices.ContainsFunc(job.Checks, func(check policy.Check) bool { return check.Paths != "" }) {
		changed, err := c.Trusted.ChangedPaths(ctx, git.Span{From: run.Base, To: at.Commit})
		if err != nil {
			return err
		}
		job.Skip = func(check policy.Check) bool { return proof.Skips(check, changed) }
	}
	return hand.Do(ctx, job, before.watch(emit))
}

// hand returns what runs commands in a checkout, in the sandbox if there is one, and the
// record of its tests.
func (c *Clean) hand(ctx context.Context, run journal.Run, at proof.Place, setup bool) (check.Hand, record, error) {
	hand := c.Hand
	if c.Sandbox != nil {
		hand.Run = c.Sandbox.Around(confine.Access{Write: []string{at.Dir}, Read: c.Trusted.Lent(), Proof: true, Setup: setup})
		hand.Env = c.Sandbox.Env(c.Hand.Env, true)
	}
	before, err := c.newRecord(ctx, run, at)
	return hand, before, err
}

func jobAt(run journal.Run, at proof.Place) check.Job {
	checks := slices.Clone(run.Policy.Checks)
	for i, check := range checks {
		checks[i].Command = cmp.Or(at.Commands[check.Name], check.Command)
	}
	return check.Job{
		Where: at.Where, Dir: filepath.Join(at.Dir, filepath.FromSlash(run.Policy.Subfolder)), Commit: at.Commit, Label: label(run, at),
		Checks: checks, Excerpt: run.Policy.Excerpt, Only: at.Only, Second: at.Second, Ask: at.Ask,
	}
}

// label names the logs of a place. An iteration can prove more than one commit, and a verifier has no iterations.
func label(run journal.Run, at proof.Place) string {
	if at.Where == journal.AtBase {
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
