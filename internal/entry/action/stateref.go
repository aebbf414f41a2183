package action

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/quota"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/run/job"
)

// stateRef saves the newest run of a task on a ref of the repository, so that any
// machine can continue it, and records there which job is at work.
//
// Everyone who may push can write to that ref. So the progress comment, or without an
// issue the pull request, names the commit that ralph saved last. A state that does not
// descend from it, or has commits on top of it, is not trusted.
type stateRef struct {
	hub    *branchHost
	store  *git.Trusted
	ref    string
	branch string // whose pull request names the commit; empty: the comment does
	now    func() time.Time
	lease  quota.Lease
	head   string   // the commit that the ref stands at
	failed []string // commits whose push failed: the ref may stand at one, if only its answer was lost
}

type savedState struct {
	files      map[string][]byte // as ralph saved them last
	run        journal.Run       // the run of these files; without a name there is none
	whyDoubted string            // why the saved state is not believed
	unwritable bool              // the ref cannot be written either
	lease      quota.Lease       // of the last job
}

// Why saved state is not believed.
const (
	altered = "the saved state of an earlier run was changed by someone else"
	another = "the saved state of an earlier run cannot be read by this version of ralph"
	orphan  = "no comment confirms the saved state of an earlier run"
)

// savedCommitMark finds which commit was saved last, and in a pull request on which ref.
var savedCommitMark = pattern.Of(`<!-- ralph:kept ([0-9a-f]{40})(?: on (\S+))? -->`)

func (h *machine) store(ctx context.Context) (*git.Trusted, error) {
	tool, err := h.git(ctx)
	if err != nil {
		return nil, err
	}
	return tool.Init(ctx, filepath.Join(h.env.folder(), keptStore), "sha1")
}

// openState also reads what is saved on the task's ref.
func (h *handler) openState(ctx context.Context) (s *stateRef, found savedState, err error) {
	store, err := h.store(ctx)
	if err != nil {
		return nil, found, err
	}
	s = &stateRef{
		hub:   h.host,
		store: store,
		ref:   h.ref(),
		now:   h.Now,
		lease: quota.Lease{Job: h.env.Job},
	}
	if h.task.Number == 0 {
		if _, s.branch, err = h.place(); err != nil {
			return s, found, err
		}
	}
	found, err = s.read(ctx)
	found.lease.Page = h.env.logOf(found.lease.Job)
	return s, found, err
}

// expectedCommit returns the commit that ralph saved last; empty: none is named.
func (s *stateRef) expectedCommit(ctx context.Context) (string, error) {
	if s.branch == "" {
		return s.hub.savedCommitInComment(ctx)
	}
	return s.hub.savedCommitInPull(ctx, s.branch, s.ref)
}

func (s *stateRef) read(ctx context.Context) (savedState, error) {
	var err error
	s.head, err = s.hub.remote().FetchRef(ctx, s.store, s.ref)
	switch {
	case errors.Is(err, git.ErrNotFound): // it is not a commit
		return savedState{whyDoubted: altered, unwritable: true}, nil
	case err != nil || s.head == "":
		return savedState{}, err
	}
	found := savedState{}
	text, err := s.store.ReadFile(ctx, git.At{Commit: s.head, Path: quota.LeaseFile}, quota.LongestLease)
	if err != nil && ctx.Err() != nil {
		return savedState{}, err
	}
	if err == nil {
		found.lease = quota.ReadLease(text)
	}
	anchor, err := s.expectedCommit(ctx)
	if err != nil {
		return savedState{}, err
	}
	err = s.accept(ctx, anchor, &found)
	return found, err
}

// accept takes what ralph saved last, and nothing after it.
func (s *stateRef) accept(ctx context.Context, anchor string, found *savedState) error {
	if anchor == "" {
		if s.branch != "" || found.lease != (quota.Lease{}) { // a job was ended before it could name what it saved
			return nil
		}
		_, err := s.store.ReadFile(ctx, git.At{Commit: s.head, Path: workspace.JournalFile}, 1)
		if !errors.Is(err, git.ErrNotFound) { // else no run began
			found.whyDoubted = orphan
		}
		return ctx.Err()
	}
	follows, err := s.store.IsAncestor(ctx, anchor, s.head)
	if err != nil {
		return err
	}
	if !follows {
		found.whyDoubted = altered
		return nil
	}
	if found.files, err = remote.ReadFiles(ctx, s.store, anchor); err != nil {
		return err
	}
	delete(found.files, quota.LeaseFile)
	entries, _, unreadable := journal.Replay(found.files[workspace.JournalFile])
	if unreadable == nil {
		found.run = journal.Fold(journal.Run{}, entries...)
	} else {
		found.files = nil
		found.whyDoubted = another
	}
	return nil
}

// isJobAtWork does not count a job that was killed, no matter what its lease says.
func (s *stateRef) isJobAtWork(ctx context.Context, l quota.Lease) (bool, error) {
	if !l.Keeps(s.lease.Job, s.now()) {
		return false, nil
	}
	ended, err := s.hub.client.JobEnded(ctx, l.Job)
	return !ended, err
}

// Put keeps the files of a run. While it goes on, so does the lease.
func (s *stateRef) Put(ctx context.Context, run journal.Run, files map[string][]byte) (journal.Shelved, error) {
	during := time.Duration(0)
	subject := fmt.Sprintf("%s: %d of %d stories passed", run.ID, run.PassedStories(), len(run.Plan.UserStories))
	if run.Stop == nil {
		during = quota.LeaseFor(run.Policy)
	} else {
		subject += ", " + string(run.Stop.Reason)
	}
	commit, err := s.write(ctx, files, subject, during)
	return journal.Shelved{Ref: s.ref, Commit: commit}, err
}

// write saves files with a lease for during; 0: none.
func (s *stateRef) write(
	ctx context.Context, files map[string][]byte, subject string, during time.Duration,
) (string, error) {
	files = maps.Clone(files)
	if files == nil {
		files = map[string][]byte{}
	}
	if during > 0 {
		s.lease.Until = s.now().Add(during).UTC()
		files[quota.LeaseFile], _ = json.Marshal(s.lease) // texts, numbers and times have no error
	}
	commit, err := s.push(ctx, remote.Files{Ref: s.ref, Files: files, Subject: subject, At: s.now()})
	switch {
	case errors.Is(err, remote.ErrNonFastForward):
		return "", job.ErrTakenOver
	case err != nil:
		return "", err
	}
	s.head = commit
	return commit, nil
}

// push tries again where the ref is at what this job itself pushed without an answer.
func (s *stateRef) push(ctx context.Context, saved remote.Files) (string, error) {
	saved.Parent = s.head
	commit, err := s.hub.remote().PushFiles(ctx, s.store, saved)
	if errors.Is(err, remote.ErrNonFastForward) && len(s.failed) > 0 {
		remoteHead, unknown := s.hub.remote().FetchRef(ctx, s.store, s.ref)
		if unknown != nil || !slices.Contains(s.failed, remoteHead) {
			return "", cmp.Or(unknown, err)
		}
		s.head = remoteHead
		saved.Parent = remoteHead
		commit, err = s.hub.remote().PushFiles(ctx, s.store, saved)
	}
	if err != nil && commit != "" && !errors.Is(err, remote.ErrNonFastForward) {
		s.failed = append(s.failed, commit)
	}
	return commit, err
}
