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

	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/survey"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// Kept is where the results of checks at a base are kept for later proofs on that base.
type Kept struct {
	Dir  string // a folder of the user's own; empty: none are kept
	Self string // this program
	With string // what else decides how a check ends, such as the day

	Shared *Shared // where jobs keep them, without a Dir; nil: they keep none
}

// baselines keeps how the checks ended at a base, with their logs and with the caches
// that they filled. Only the base's own commands ran before that, and nothing in the
// sandbox can write to the folder.
type baselines struct{ *Clean }

const (
	keptChecks = "checks.json"
	keptCaches = "caches"
	// mostKept is how many baselines are kept: each has its own caches.
	mostKept       = 4
	largestChecks  = 16 << 20
	privateFolders = 0o700
)

// Known are the checks as they ended at the base in an earlier run; none if that is not known.
func (b baselines) Known(ctx context.Context, run journal.Run) ([]journal.CheckEnded, bool) {
	dir, err := b.of(run)
	if err != nil {
		return nil, false
	}
	data, err := untrusted.ReadFile(filepath.Join(dir, keptChecks), largestChecks)
	if err != nil {
		return nil, false
	}
	checks, err := b.read(data, workspace.Folder{Path: dir}.Read)
	if err != nil {
		return nil, false
	}
	if err := b.Sandbox.TakeCaches(ctx, filepath.Join(dir, keptCaches)); err != nil {
		b.Log("the caches of the base are not used: " + fault.Told(err))
		return nil, false
	}
	return checks, true
}

// read takes checks, and puts the files that they left where those of this run lie.
func (b baselines) read(data []byte, file func(name, digest string) (string, error)) (checks []journal.CheckEnded, err error) {
	if err := json.Unmarshal(data, &checks); err != nil {
		return nil, err
	}
	for i := range checks {
		for _, kept := range files(&checks[i]) {
			name := path.Base(*kept.path)
			text, err := file(name, kept.digest)
			if err == nil {
				*kept.path = path.Join(b.Hand.Folder, name)
				err = b.log(name, text)
			}
			if err != nil {
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

// Keep keeps how the checks ended at the base.
func (b baselines) Keep(_ context.Context, run journal.Run, checks []journal.CheckEnded) {
	if err := b.keep(run, checks); err != nil {
		b.Log("the results at the base are not kept for later proofs: " + fault.Told(err))
	}
}

func (b baselines) keep(run journal.Run, checks []journal.CheckEnded) error {
	dir, err := b.of(run)
	if err == nil {
		err = os.MkdirAll(b.Kept.Dir, privateFolders)
	}
	if err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(b.Kept.Dir, "new-")
	if err != nil {
		return err
	}
	defer untrusted.RemoveAll(fresh) //nolint:errcheck // it has its own name by then
	if err := b.fill(fresh, checks); err != nil {
		return err
	}
	return errors.Join(untrusted.RemoveAll(dir), os.Rename(fresh, dir), b.prune(dir))
}

func (b baselines) fill(dir string, checks []journal.CheckEnded) error {
	for _, check := range checks {
		for _, file := range files(&check) {
			name := path.Base(*file.path)
			text, err := b.Logs.Read(name, file.digest)
			if err == nil {
				err = untrusted.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
			}
			if err != nil {
				return err
			}
		}
	}
	data, err := json.Marshal(checks)
	return errors.Join(err, b.Sandbox.KeepCaches(filepath.Join(dir, keptCaches)), untrusted.WriteFile(filepath.Join(dir, keptChecks), data, 0o600))
}

func (b baselines) prune(dir string) error {
	entries, err := untrusted.ReadDir(b.Kept.Dir)
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == filepath.Base(dir) })
	slices.SortFunc(entries, func(one, other fs.DirEntry) int { return cmp.Compare(made(other), made(one)) })
	for _, entry := range entries[min(len(entries), mostKept-1):] {
		err = errors.Join(err, untrusted.RemoveAll(filepath.Join(b.Kept.Dir, entry.Name())))
	}
	return err
}

func made(entry fs.DirEntry) int64 {
	info, err := entry.Info()
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}

// keptFile is a file that a check left: path is its name in the record.
type keptFile struct {
	path   *string
	digest string
}

func files(check *journal.CheckEnded) (all []keptFile) {
	if check.Log != "" {
		all = []keptFile{{&check.Log, check.Digest}}
	}
	if check.Tests != nil && check.Tests.All.Path != "" {
		tests := *check.Tests // of the record, which is as it was
		check.Tests = &tests
		all = append(all, keptFile{&tests.All.Path, tests.All.Digest})
	}
	return all
}

// of is the folder of a run's baseline. Its name tells apart all that decides how a
// check ends: the commit, the commands, the environment, and the programs on PATH.
func (b baselines) of(run journal.Run) (string, error) {
	sum, p := sha256.New(), run.Policy
	err := json.NewEncoder(sum).Encode([]any{run.Base, p.Checks, p.Setup, p.Subfolder, p.Excerpt, b.Sandbox.Name(), b.Hand.Env, b.Kept.With})
	if err != nil {
		return "", err
	}
	programs := []string{b.Kept.Self}
	for _, dir := range filepath.SplitList(environ.Get(b.Hand.Env, "PATH")) {
		entries, _ := untrusted.ReadDir(dir) // one that is not there has no program
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
