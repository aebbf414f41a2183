package checkout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/sigstore"
)

// Shared keeps baselines for other jobs, on refs of the repository. Everyone who may push can write
// there, so a baseline counts only if the notary's workflow has signed it.
type Shared struct {
	Notary *sigstore.Notary
	Store  func(context.Context) (*git.Trusted, error) // receives what is fetched and pushed
	Remote remote.Repository
	Now    func() time.Time
}

// sharedBaselines keeps results without logs and caches.
type sharedBaselines struct{ baselines }

const (
	largestShared = 4 << 20
	mostFilled    = 1 << 20
	patience      = time.Minute
)

func (s sharedBaselines) ref(run journal.Run) (string, error) {
	dir, err := s.folder(run)
	return remote.Baselines + filepath.Base(dir), err
}

// Known returns the results that an earlier job signed.
func (s sharedBaselines) Known(ctx context.Context, run journal.Run) ([]journal.CheckEnded, bool) {
	ref, err := s.ref(run)
	if err != nil {
		return nil, false
	}
	kept, err := s.Kept.Shared.get(ctx, ref)
	if err == nil && kept == nil {
		return nil, false
	}
	var checks []journal.CheckEnded
	if err == nil {
		checks, err = s.read(kept[keptChecks], func(name, _ string) (string, error) { return string(kept[name]), nil })
	}
	if err != nil {
		s.Log("what is kept of the base on " + ref + " does not count: " + fault.Told(err))
		return nil, false
	}
	return checks, false
}

func (s *Shared) get(ctx context.Context, ref string) (map[string][]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	store, err := s.Store(ctx)
	if err != nil {
		return nil, err
	}
	commit, err := s.Remote.FetchRef(ctx, store, ref)
	if err != nil || commit == "" {
		return nil, err
	}
	files, err := remote.ReadFiles(ctx, store, commit)
	if err == nil {
		err = s.Notary.Believes(ref, files)
	}
	return files, err
}

// Keep keeps results for later jobs, but not those of a pull request: its base can be any branch. If the checks filled
// caches, nothing is kept: each later proof would have to fill them again.
func (s sharedBaselines) Keep(ctx context.Context, run journal.Run, checks []journal.CheckEnded) {
	if run.Task.Kind == plan.KindPull || !s.Kept.Shared.Notary.Signs() {
		return
	}
	if err := s.keep(ctx, run, checks); err != nil {
		s.Log("the results at the base are not kept for later jobs: " + fault.Told(err))
	}
}

func (s sharedBaselines) keep(ctx context.Context, run journal.Run, checks []journal.CheckEnded) error {
	if s.filled > mostFilled {
		return errors.New("the checks filled caches, which are not kept")
	}
	checks = slices.Clone(checks) // the run's keep their logs
	kept, size := map[string][]byte{}, 0
	for i := range checks {
		check := &checks[i]
		check.Log, check.Digest = "", ""
		for _, file := range files(check) {
			name := path.Base(*file.path)
			text, err := s.Logs.Read(name, file.digest)
			if err != nil {
				return err
			}
			kept[name] = []byte(text)
			size += len(text)
		}
	}
	var err error
	if kept[keptChecks], err = json.Marshal(checks); err != nil {
		return err
	}
	if size += len(kept[keptChecks]); size > largestShared {
		return fmt.Errorf("they have %d bytes, more than %d", size, largestShared)
	}
	ref, err := s.ref(run)
	if err != nil {
		return err
	}
	return s.Kept.Shared.put(ctx, ref, kept)
}

func (s *Shared) put(ctx context.Context, ref string, files map[string][]byte) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := s.Notary.Sign(ctx, ref, files); err != nil {
		return err
	}
	store, err := s.Store(ctx)
	if err != nil {
		return err
	}
	_, err = s.Remote.PushFiles(ctx, store, remote.Files{Ref: ref, Files: files, Subject: "the checks at a base", At: s.Now()})
	if errors.Is(err, remote.ErrNonFastForward) { // another job was faster
		return nil
	}
	return err
}

// cached returns the size of the caches of the proof, if it decides whether results are kept.
func (c *Clean) cached(ctx context.Context) int64 {
	if c.Kept.Shared == nil {
		return 0
	}
	size, err := c.Sandbox.CacheSize(ctx)
	if err != nil {
		c.Log("the size of the caches is not known: " + fault.Told(err))
	}
	return size
}
