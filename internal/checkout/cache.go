package checkout

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/survey"
)

// save saves for later jobs what setup fetched at the base. Of a pull request it saves nothing: its base may be
// unreviewed, and the jobs of all branches share caches.
func (c *Clean) save(ctx context.Context, run journal.Run) {
	if run.Task.Kind == plan.KindPull || run.Task.Kind == "" {
		return
	}
	key, err := c.lockKey(ctx, run)
	if err == nil {
		err = c.Sandbox.SaveCaches(ctx, key)
	}
	if err != nil {
		c.Log("no caches were saved for later jobs: " + fault.Told(err))
	}
}

// lockKey tells the lock files and setup commands of the base from others.
func (c *Clean) lockKey(ctx context.Context, run journal.Run) (string, error) {
	trusted, err := c.Repository(ctx)
	if err != nil {
		return "", err
	}
	names, err := trusted.Files(ctx, run.Base)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for _, command := range run.Policy.Setup {
		fmt.Fprintf(hash, "%q\n", command.Command)
	}
	for _, name := range names {
		if !survey.Locks(name) {
			continue
		}
		data, err := trusted.ReadFile(ctx, git.At{Commit: run.Base, Path: name}, largestLock)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%q %d\n%s", name, len(data), data)
	}
	return hex.EncodeToString(hash.Sum(nil)[:16]), nil
}

const largestLock = 16 << 20
