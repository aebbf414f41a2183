package proofcheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
	"github.com/ralph-loop/ralph/internal/proof/check"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// Job is a job of the action that proves a pull request, or publishes such a proof.
type Job struct {
	Event     string // GitHub's name
	Payload   []byte
	Asked     int // the pull request of a command; 0: that of the event
	Client    *github.Client
	Repo      trigger.Repo
	Base      string // only pull requests for this branch are proven
	Remote    remote.Repository
	Workspace string
	Folder    string // the job's own folder in it

	Git     func(context.Context) (git.Git, error)
	Exec    func(context.Context, process.Command) (process.Result, error)
	Sandbox func(context.Context) (*confine.Sandbox, error)
	Level   sandbox.Level // from the inputs
	Rules   checkout.Rules
	Env     []string
	Needs   confine.Needs // of the checks
	// Kept says where baselines of this workflow are kept.
	Kept func(*confine.Sandbox) checkout.Kept

	Say       func(string)             // a line of the job's log
	Hide      func(text string) string // hides secrets in texts
	HideBytes func(data []byte) []byte // and in a file
	Tell      func(conclusion string)  // as an output of the job
}

const handedFile = ".ralph-out/proof.json" // from the job that proves to the one that publishes

// The events of a change.
const (
	eventPull  = "pull_request"
	eventGroup = "merge_group"
	eventPush  = "push"
)

// Prove proves the pull request or merge group of the event, without an agent, and puts the check on its head. A fork's
// job may not, so another job publishes its result. For a push to the base branch it keeps the baseline.
func (j Job) Prove(ctx context.Context) error {
	p, why, err := j.proposal(ctx)
	if err != nil {
		return err
	}
	if why != "" {
		j.Say("not for ralph: " + why)
		return nil
	}
	if j.Event == eventPush {
		return j.keep(ctx, p)
	}
	outcome, line, err := j.proven(ctx, p)
	if err != nil {
		return err
	}
	if err := j.hand(Handed{Pull: p.Number, Outcome: outcome}); err != nil {
		return err
	}
	j.Say(outcome.Text())
	if j.Event == eventPull && p.IsFork(j.Repo) {
		j.Say("the token of a fork's job may not write checks: the workflow ralph-proof-publish does")
		return nil
	}
	return j.publish(ctx, p, outcome, line)
}

func (j Job) proposal(ctx context.Context) (p github.Pull, why string, err error) {
	switch {
	case j.Asked > 0:
		p, err = j.Client.Proposal(ctx, j.Asked)
	case j.Event == eventPull, j.Event == eventGroup, j.Event == eventPush:
		p, err = github.ReadProposal(j.Payload)
	default:
		return p, fmt.Sprintf("the event %q names no pull request", j.Event), nil
	}
	return p, j.whySkipped(p), err
}

// whySkipped returns why a proposal is not proven, or "". A check belongs to a commit: the proof
// for another branch would also count for the protected one.
func (j Job) whySkipped(p github.Pull) string {
	if !p.Open {
		return fmt.Sprintf("#%d is closed", p.Number)
	}
	if p.BaseRef != j.Base {
		return fmt.Sprintf("its base is %q, and only pull requests for %q are proven", p.BaseRef, j.Base)
	}
	return ""
}

const grace = time.Second // between SIGTERM and SIGKILL

// proven runs the proof in the sandbox. A fork's code does not get the secrets of checks.
func (j Job) proven(
	ctx context.Context,
	p github.Pull,
) (outcome checkout.Outcome, line func(string) int, err error) {
	if p.IsFork(j.Repo) && p.Number != 0 {
		if j.Level == sandbox.None {
			err = fault.Usage("a fork's code is not run without a sandbox", "remove `sandbox: none`", nil)
			return outcome, nil, err
		}
		j.Needs.Secrets = nil
	}
	err = j.verify(ctx, p, func(verifier *checkout.Verifier) error {
		run, err := verifier.Prove(ctx, "", git.Span{From: p.BaseSHA, To: p.HeadSHA}, j.Rules)
		if err != nil {
			return fault.Usage("the change cannot be proven or refuted", fault.Hint(err), err)
		}
		outcome = checkout.Sum(run)
		line = lines(ctx, verifier.Code, outcome)
		return nil
	})
	return outcome, line, err
}

// keep runs the checks for later proofs of pull requests on this commit.
func (j Job) keep(ctx context.Context, p github.Pull) error {
	return j.verify(ctx, p, func(verifier *checkout.Verifier) error {
		if verifier.Kept.Dir == "" {
			j.Say("no baseline is kept: that needs the input cache, a sandbox, and checks without services and secrets")
			return nil
		}
		_, err := verifier.Base(ctx, "", p.BaseSHA, j.Rules)
		return err
	})
}

// verify calls a function with a verifier of the proposal's commits, in the sandbox.
func (j Job) verify(ctx context.Context, p github.Pull, do func(*checkout.Verifier) error) (err error) {
	dir, err := j.dir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, untrusted.RemoveAll(dir)) }()
	code, tool, err := j.fetch(ctx, filepath.Join(dir, "code.git"), p)
	if err != nil {
		return err
	}
	sb, err := j.Sandbox(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sb.Close()) }()
	files := func() ([]string, error) { return code.Files(ctx, p.BaseSHA) }
	if err := sb.AllowPackages(j.Env, files); err != nil {
		return err
	}
	verifier := &checkout.Verifier{
		Sandbox: sb,
		Git:     tool,
		Code:    code,
		Dir:     filepath.Join(dir, "proof"),
		Hand:    check.Hand{Run: j.Exec, Grace: grace},
		Tell:    func(run journal.Run, event journal.Event) { j.Say(view.LineAndOutput(run, event)) },
		Kept:    j.Kept(sb),
	}
	verifier.Confide(j.Env, j.Needs)
	return do(verifier)
}

func (j Job) dir() (string, error) {
	if err := os.MkdirAll(j.Folder, 0o755); err != nil {
		return "", fault.Usage("cannot write to "+j.Folder, "make the workspace writable", err)
	}
	dir, err := os.MkdirTemp(j.Folder, "proof-")
	if err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the checks run as another user
		return "", err
	}
	return dir, os.Mkdir(filepath.Join(dir, "proof"), 0o755)
}

func (j Job) fetch(ctx context.Context, dir string, p github.Pull) (code *git.Trusted, tool git.Git, err error) {
	if err := git.CheckSHA(p.BaseSHA, p.HeadSHA); err != nil {
		return nil, tool, err
	}
	tool, err = j.Git(ctx)
	if err != nil {
		return nil, tool, err
	}
	code, err = j.Remote.Clone(ctx, tool, dir, remote.Branches{Base: p.BaseRef})
	if err != nil {
		return nil, tool, err
	}
	for _, sha := range []string{p.BaseSHA, p.HeadSHA} {
		if err := j.Remote.Fetch(ctx, code, sha); err != nil {
			return nil, tool, err
		}
	}
	return code, tool, nil
}

func (j Job) hand(h Handed) error {
	data, _ := json.Marshal(h) // texts and numbers have no error
	if err := os.MkdirAll(filepath.Dir(filepath.Join(j.Workspace, handedFile)), 0o755); err != nil {
		return fmt.Errorf("write the outcome: %w", err)
	}
	return untrusted.Folder{Path: j.Workspace}.WriteFile(handedFile, j.HideBytes(data), 0o644)
}
