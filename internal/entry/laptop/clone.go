package laptop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/proof/check"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// Clone are the flags of commands that prove others' commits in a clone.
type Clone struct {
	ProjectDir string `short:"d" default:"." type:"folder" placeholder:"DIR" help:"Clone of the repository (default: current directory)."`
	Fence
	Reach   `group:"all"`
	Secrecy `group:"all"`
	Passing `group:"all"`
}

// Verify runs a verifier in the sandbox. It uses no folder of PATH in the clone: the change that is proven may
// have brought the programs there.
func (c Clone) Verify(ctx context.Context, w World, tool git.Git, do func(*checkout.Verifier) error) error {
	needs, err := w.Needs(config.Settings{}, c.Reach, c.Secrecy)
	if err != nil {
		return err
	}
	e, err := c.Around(w, c.ProjectDir)
	if err != nil {
		return err
	}
	e.Needs = needs
	e.Vars = c.Env
	e.Proofs = true
	return c.WithVerifier(ctx, w, tool, e, func(v *checkout.Verifier) error {
		v.Kept = w.keptBaselines(v.Sandbox, needs, e.Allow)
		return do(v)
	})
}

// WithVerifier has a verifier do its work in a new folder, in the sandbox if there is one. Events go to standard error.
func (f Fence) WithVerifier(
	ctx context.Context, w World, tool git.Git, e Enclosure, do func(*checkout.Verifier) error,
) (err error) {
	dir, remove, err := w.Room(e.Project, "verify")
	if err != nil {
		return err
	}
	defer remove()
	sb, err := f.Raise(ctx, w, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sb.Close()) }()
	show := func(run journal.Run, event journal.Event) {
		fmt.Fprint(w.Stderr, clean.LogLines(view.LineAndOutput(run, event)))
	}
	if e.Proofs {
		for _, note := range sb.Notices() {
			show(journal.Run{}, note)
		}
		w = w.PathOutside(e.Project)
	}
	v := &checkout.Verifier{
		Sandbox: sb,
		Git:     tool,
		Dir:     dir,
		Hand:    check.Hand{Run: w.Runner.Run},
		Tell:    show,
	}
	v.Confide(w.EnvironInside(sb, e.Vars...), e.Needs)
	return do(v)
}

// Span are two commits; an empty name is the default branch or HEAD.
func (c Clone) Span(ctx context.Context, tool git.Git, base, head string) (git.Span, error) {
	to, err := tool.Named(ctx, c.ProjectDir, cmp.Or(head, "HEAD"))
	if err != nil {
		return git.Span{}, err
	}
	if base != "" {
		from, err := tool.Named(ctx, c.ProjectDir, base)
		return git.Span{From: from, To: to}, err
	}
	for _, name := range []string{"origin/HEAD", "origin/main", "origin/master", "main", "master"} {
		var from string
		if from, err = tool.Named(ctx, c.ProjectDir, name); err == nil {
			return git.Span{From: from, To: to}, nil
		}
	}
	return git.Span{}, fault.Usage("cannot find the default branch",
		"name the commit before the change: ralph prove HEAD~1", err)
}

// Rules returns those of the base's settings, with more checks and setup commands. Of a check that
// was red at the base only new failures count, unless the settings are strict.
func (c Clone) Rules(checks, setup []string) checkout.Rules {
	return func(file func(string) []byte) (policy.Policy, error) {
		p := policy.ForPreset(policy.ByStories)
		p.Baseline = policy.BaselineNew
		if data := file(workspace.SettingsFile); data != nil {
			settings, err := config.ReadSettings(config.File{Name: workspace.SettingsFile, Data: data})
			if err != nil {
				return p, err
			}
			p = settings.ApplyTo(p)
		}
		within, err := filepath.Rel(guarded.Around(c.ProjectDir), c.ProjectDir)
		if err != nil {
			return p, err
		}
		if within != "." {
			p.Subfolder = filepath.ToSlash(within)
		}
		p.Protect = append(policy.ProtectedFiles(), p.Protect...)
		p.Checks = policy.AddChecks(p.Checks, checks, policy.DefaultCheckTimeout)
		p.Setup = append(p.Setup, policy.NewSetup(setup, policy.DefaultCheckTimeout)...)
		return p, nil
	}
}
