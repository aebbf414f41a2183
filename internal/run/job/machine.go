package job

import (
	"context"
	"os"
	"time"

	"github.com/ralph-loop/ralph/internal/box/box"
	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/redact"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
)

// Machine is what commands run with.
type Machine struct {
	Folder      workspace.Folder
	TreesBeside bool // keeps the trees of runs beside the digests of their journals
	Exec        func(context.Context, process.Command) (process.Result, error)
	Now         func() time.Time
	Git         git.Git
	Sandbox     *confine.Sandbox // of the agent and its checks; nil: none. The caller closes it
	CheckEnv    []string
	StepEnv     []string // CheckEnv without variables of settings: only these name mirrors, and so hosts

	CheckSecrets []string         // variables for checks of clean checkouts alone
	Kept         checkout.Kept    // where baselines are kept
	UserEnv      []string         // for the user's own version control
	Secrets      *redact.Redactor // hides secrets in all that is recorded
	Grace        time.Duration    // for agents and checks to end; 0: the default
}

// gitInside runs git as the sandbox's user and without a network. nil: as everywhere else.
func gitInside(sb *confine.Sandbox, home, dir string, trusted *git.Trusted) git.Run {
	if sb == nil {
		return nil
	}
	read := []string{home}
	if trusted != nil {
		read = append(read, trusted.Lent()...)
	}
	return git.Run(sb.Around(confine.Access{Write: []string{dir}, Read: read, Alone: true}))
}

// accessTo is to a box at the path of the user's folder, and to the objects of a repository. nil: there is none.
func accessTo(b box.Box, trusted *git.Trusted) confine.Access {
	access := confine.Access{
		Write:  []string{b.Dir},
		At:     map[string]string{b.Dir: b.User},
		Layers: b.Layers(),
	}
	if trusted != nil {
		access.Read = trusted.Lent()
	}
	for _, lent := range access.Read {
		access.At[lent] = lent
	}
	return access
}

// clearDir makes an empty folder, and removes what is there.
func clearDir(dir string) error {
	if err := untrusted.RemoveAll(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o755)
}

// Wait waits until the pause or the context ends.
func Wait(ctx context.Context, pause time.Duration) error { return waitUntil(ctx, pause, nil) }

// waitUntil also ends when early is closed.
func waitUntil(ctx context.Context, pause time.Duration, early <-chan struct{}) error {
	select {
	case <-time.After(pause):
		return nil
	case <-early:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
