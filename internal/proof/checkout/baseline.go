package checkout

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
	"github.com/ralph-loop/ralph/internal/proof/survey"
)

// Kept says where the results of checks at a base are kept for later proofs.
type Kept struct {
	Dir      string // a folder of the user or of a job's cache, which no agent can write; empty: none
	ReadOnly bool   // kept results are used, and no others are kept
	Self     string // this program
	With     string // what else can change a result, such as the day
}

// baselines keeps the results of checks at a base, with their logs. Before that, only the base's own commands ran, and
// nothing in the sandbox can write to the folder.
type baselines struct{ *Clean }

const (
	keptChecks     = "checks.json"
	mostKept       = 4
	largestChecks  = 16 << 20
	privateFolders = 0o700
)

// Known returns the results that an earlier run kept; none: there are none that can be used.
func (b baselines) Known(run journal.Run) []journal.CheckEnded {
	dir, err := b.folder(run)
	if err != nil {
		return nil
	}
	data, err := untrusted.ReadFile(filepath.Join(dir, keptChecks), largestChecks)
	if err != nil {
		return nil
	}
	checks, _ := b.read(data, workspace.Folder{Path: dir}) // none where one cannot be read
	return checks
}

// read decodes kept results, and copies their files to this run's folder.
func (b baselines) read(data []byte, from workspace.Folder) ([]journal.CheckEnded, error) {
	var checks []journal.CheckEnded
	if err := json.Unmarshal(data, &checks); err != nil {
		return nil, err
	}
	for i := range checks {
		for _, kept := range files(&checks[i]) {
			name := path.Base(*kept.path)
			text, err := from.Read(name, kept.digest)
			if err != nil {
				return nil, err
			}
			*kept.path = path.Join(b.Hand.Folder, name)
			if err := b.log(name, text); err != nil {
				return nil, err
			}
		}
	}
	return checks, nil
}

func (b baselines) log(name, text string) error {
	file, err := b.Hand.Log(name)
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, text)
	return errors.Join(err, file.Close())
}

// Keep keeps the results of the checks at the base.
func (b baselines) Keep(ctx context.Context, run journal.Run, checks []journal.CheckEnded) {
	if b.Kept.ReadOnly {
		return
	}
	if err := b.keep(ctx, run, checks); err != nil {
		b.Log("the results at the base are not kept for later proofs: " + fault.Told(err))
	}
}

func (b baselines) keep(ctx context.Context, run journal.Run, checks []journal.CheckEnded) error {
	dir, err := b.folder(run)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(b.Kept.Dir, privateFolders); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(b.Kept.Dir, "new-")
	if err != nil {
		return err
	}
	defer untrusted.RemoveAll(temp) //nolint:errcheck // it was renamed by then
	if err := b.write(temp, checks); err != nil {
		return err
	}
	if err := untrusted.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Rename(temp, dir); err != nil {
		return err
	}
	return errors.Join(b.prune(dir), b.Sandbox.Saved(ctx, filepath.Base(dir)))
}

func (b baselines) write(dir string, checks []journal.CheckEnded) error {
	for _, check := range checks {
		for _, file := range files(&check) {
			name := path.Base(*file.path)
			text, err := b.Logs.Read(name, file.digest)
			if err != nil {
				return err
			}
			if err := untrusted.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				return err
			}
		}
	}
	data, err := json.Marshal(checks)
	if err != nil {
		return err
	}
	return untrusted.WriteFile(filepath.Join(dir, keptChecks), data, 0o600)
}

// prune keeps the newest baselines.
func (b baselines) prune(dir string) error {
	entries, err := untrusted.ReadDir(b.Kept.Dir)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(modTime(b), modTime(a)) })
	for n, entry := range entries {
		old := filepath.Join(b.Kept.Dir, entry.Name())
		if n >= mostKept && old != dir {
			err = errors.Join(err, untrusted.RemoveAll(old))
		}
	}
	return err
}

func modTime(entry fs.DirEntry) int64 {
	info, err := entry.Info()
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}

// keptFile is a file that a check left. path points to its name in the result.
type keptFile struct {
	path   *string
	digest string
}

// files returns the files that a check left.
func files(check *journal.CheckEnded) []keptFile {
	var all []keptFile
	if check.Log != "" {
		all = append(all, keptFile{&check.Log, check.Digest})
	}
	if check.Tests != nil && check.Tests.All.Path != "" {
		tests := *check.Tests // a copy: the record stays as it is
		check.Tests = &tests
		all = append(all, keptFile{&tests.All.Path, tests.All.Digest})
	}
	return all
}

// folder returns the folder of a run's baseline. Its name depends on all that can change a
// result: the commit, the commands, the environment, and the programs on PATH.
func (b baselines) folder(run journal.Run) (string, error) {
	sum := sha256.New()
	p := run.Policy
	err := json.NewEncoder(sum).Encode([]any{
		run.Base,
		p.Checks, p.Setup, p.Subfolder, p.Excerpt,
		b.Sandbox.Name(), b.Hand.Env, b.Kept.With,
	})
	if err != nil {
		return "", err
	}
	programs := []string{b.Kept.Self}
	for _, dir := range filepath.SplitList(environ.Get(b.Hand.Env, "PATH")) {
		entries, _ := untrusted.ReadDir(dir) // a missing folder has no programs
		for _, entry := range entries {
			programs = append(programs, filepath.Join(dir, entry.Name()))
		}
	}
	for _, name := range programs {
		if info, err := os.Stat(name); err == nil {
			fmt.Fprintf(sum, "%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		}
	}
	return filepath.Join(b.Kept.Dir, hex.EncodeToString(sum.Sum(nil)[:16])), nil
}

// saveCaches saves the base's caches for later jobs. For a pull request it saves nothing: its base may be
// unreviewed, and the jobs of all branches share caches.
func (c *Clean) saveCaches(ctx context.Context, run journal.Run) {
	isIssue := run.Task.Kind != plan.KindPull && run.Task.Kind != ""
	keeps := c.Kept.Dir != "" && !c.Kept.ReadOnly
	if !isIssue && !keeps {
		return
	}
	if err := c.trySaveCaches(ctx, run); err != nil {
		c.Log("no caches were saved for later jobs: " + fault.Told(err))
	}
}

func (c *Clean) trySaveCaches(ctx context.Context, run journal.Run) error {
	key, err := c.lockKey(ctx, run)
	if err != nil {
		return err
	}
	return c.Sandbox.SaveCaches(ctx, key)
}

// lockKey identifies the lock files and setup commands of the base.
func (c *Clean) lockKey(ctx context.Context, run journal.Run) (string, error) {
	names, err := c.Trusted.Files(ctx, run.Base)
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
		data, err := c.Trusted.ReadFile(ctx, git.At{Commit: run.Base, Path: name}, largestLock)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%q %d\n%s", name, len(data), data)
	}
	return hex.EncodeToString(hash.Sum(nil)[:16]), nil
}

const largestLock = 16 << 20
