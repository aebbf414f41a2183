package confine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// unshare replaces hard links to files elsewhere by copies, below folders of the user's
// that those inside will write to: such a link leads past every mount. Once is enough, as
// no link to what lies outside can be made inside. In a job every folder is a new one.
func (w *Sandbox) unshare(ctx context.Context, dirs []string) error {
	if w.folders.home == "" {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	dirs = slices.DeleteFunc(resolved(dirs), func(dir string) bool { return anyHolds(append(w.unshared, w.folders.dir), dir) })
	if len(dirs) == 0 {
		return nil
	}
	copied, err := workspace.Unshare(ctx, dirs)
	if errors.Is(err, untrusted.ErrTooDeep) {
		return fault.Usage("the agent could change files outside the project: hard links in folders below 256 others are not found",
			"remove the deep folders, as with rm -r", err)
	}
	if err != nil {
		return fault.Usage("the agent could change files outside the project: hard links lead there, and cannot be replaced by copies",
			"reinstall packages as copies (for pnpm: package-import-method=copy), clone with --no-hardlinks, or run in another clone", err)
	}
	w.unshared = append(w.unshared, dirs...)
	if copied > 0 {
		w.pending = append(w.pending, journal.Noted{What: fmt.Sprintf("hard links to files outside the project were replaced by copies, so that the agent cannot change those files: %d", copied)})
	}
	return nil
}

// parted runs a command where it shares no file with folders outside of those it writes to.
func (w *Sandbox) parted(dirs []string, next sandbox.Exec) sandbox.Exec {
	return func(ctx context.Context, c process.Command) (process.Result, error) {
		if err := w.unshare(ctx, dirs); err != nil {
			return process.Result{}, err
		}
		return next(ctx, c)
	}
}
