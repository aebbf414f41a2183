package action

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/quota"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/run/job"
)

// runRef saves the newest run of a task on a ref of the repository, so that any
// machine can continue it, and records there which job is at work: its lease.
//
// Everyone who may push can write to that ref. So the progress comment, or without an issue the pull request, names the
// commit that ralph saved last. A state that does not descend from it, or has commits on top of it, is not trusted.
type runRef struct {
	host   *branchHost
	store  *git.Trusted
	name   string
	branch string // whose pull request names the commit; empty: the comment does
	now    func() time.Time
	hard   <-chan struct{} // closed: end now
	lease  quota.Lease     // of this job
	head   string          // the commit that the ref stands at
	failed []string        // commits whose push failed: the ref may stand at one, if only its answer was lost
}

// savedRun is what the ref of a task has.
type savedRun struct {
	files      map[string][]byte // as ralph saved them last
	run        journal.Run       // the run of these files; without a name there is none
	whyDoubted string            // why the saved state is not believed
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

// expectedCommit returns the commit that ralph saved last; empty: none is named.
func (r *runRef) expectedCommit(ctx context.Context) (string, error) {
	if r.branch == "" {
		return r.host.savedCommitInComment(ctx)
	}
	return r.host.savedCommitInPull(ctx, r.branch, r.name)
}

func (r *runRef) read(ctx context.Context) (savedRun, error) {
	var err error
	r.head, err = r.host.remote.FetchRef(ctx, r.store, r.name)
	switch {
	case errors.Is(err, git.ErrNotFound):
		return savedRun{}, fault.Usage(r.name+" is not a commit", "delete it: `git push origin :"+r.name+"`", nil)
	case err != nil || r.head == "":
		return savedRun{}, err
	}
	found := savedRun{}
	text, err := r.store.ReadFile(ctx, git.At{Commit: r.head, Path: quota.LeaseFile}, quota.LongestLease)
	if err != nil && ctx.Err() != nil {
		return savedRun{}, err
	}
	if err == nil {
		found.lease = quota.ReadLease(text)
	}
	anchor, err := r.expectedCommit(ctx)
	if err != nil {
		return savedRun{}, err
	}
	err = r.accept(ctx, anchor, &found)
	return found, err
}

// accept takes what ralph saved last, and nothing after it.
func (r *runRef) accept(ctx context.Context, anchor string, found *savedRun) error {
	if anchor == "" {
		if r.branch != "" || found.lease != (quota.Lease{}) { // a job was ended before it could name what it saved
			return nil
		}
		_, err := r.store.ReadFile(ctx, git.At{Commit: r.head, Path: workspace.JournalFile}, 1)
		if !errors.Is(err, git.ErrNotFound) { // else no run began
			found.whyDoubted = orphan
		}
		return ctx.Err()
	}
	follows, err := r.store.IsAncestor(ctx, anchor, r.head)
	if err != nil {
		return err
	}
	if !follows {
		found.whyDoubted = altered
		return nil
	}
	if found.files, err = remote.ReadFiles(ctx, r.store, anchor); err != nil {
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
func (r *runRef) isJobAtWork(ctx context.Context, l quota.Lease) (bool, error) {
	if !l.Keeps(r.lease.Job, r.now()) {
		return false, nil
	}
	ended, err := r.host.client.JobEnded(ctx, l.Job)
	return !ended, err
}

// claim takes the lease of a job that may be at work for a time. It tries twice: a run that cannot be saved does
// not begin.
func (r *runRef) claim(ctx context.Context, files map[string][]byte, during time.Duration) error {
	_, err := r.write(ctx, files, "at work", during)
	if err != nil && !errors.Is(err, job.ErrTakenOver) {
		if err := job.Wait(ctx, retryPause); err != nil {
			return err
		}
		_, err = r.write(ctx, files, "at work", during)
	}
	switch {
	case errors.Is(err, job.ErrTakenOver):
		return declinedError{
			"Another job started work on this at the same moment. Its progress comment shows the state.",
		}
	case err != nil && ctx.Err() == nil:
		return fault.Usage("no work started: the run cannot be saved on "+r.name,
			"let the job's token write to "+r.name+", and ask again", err)
	}
	return err
}

// release releases the lease. The saved state of a broken run stays.
func (r *runRef) release(ctx context.Context, files map[string][]byte, home workspace.Run) {
	if process.IsClosed(r.hard) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWordsTime)
	defer cancel()
	if packed, err := home.Pack(); err == nil {
		files = packed
	}
	if _, err := r.write(ctx, files, "left", 0); err != nil {
		r.host.say("could not release the lease: " + fault.Told(err))
	}
}

// Put keeps the files of a run. While it goes on, so does the lease.
func (r *runRef) Put(ctx context.Context, run journal.Run, files map[string][]byte) (journal.Shelved, error) {
	during := time.Duration(0)
	subject := fmt.Sprintf("%s: %d of %d stories passed", run.ID, run.PassedStories(), len(run.Plan.UserStories))
	if run.Stop == nil {
		during = quota.LeaseFor(run.Policy)
	} else {
		subject += ", " + string(run.Stop.Reason)
	}
	commit, err := r.write(ctx, files, subject, during)
	return journal.Shelved{Ref: r.name, Commit: commit}, err
}

// write saves files with a lease for during; 0: none.
func (r *runRef) write(
	ctx context.Context, files map[string][]byte, subject string, during time.Duration,
) (string, error) {
	files = maps.Clone(files)
	if files == nil {
		files = map[string][]byte{}
	}
	if during > 0 {
		r.lease.Until = r.now().Add(during).UTC()
		files[quota.LeaseFile], _ = json.Marshal(r.lease) // texts, numbers and times have no error
	}
	commit, err := r.push(ctx, remote.Files{Ref: r.name, Files: files, Subject: subject, At: r.now()})
	switch {
	case errors.Is(err, remote.ErrNonFastForward):
		return "", job.ErrTakenOver
	case err != nil:
		return "", err
	}
	r.head = commit
	return commit, nil
}

// push tries again where the ref is at what this job itself pushed without an answer.
func (r *runRef) push(ctx context.Context, saved remote.Files) (string, error) {
	saved.Parent = r.head
	commit, err := r.host.remote.PushFiles(ctx, r.store, saved)
	if errors.Is(err, remote.ErrNonFastForward) && len(r.failed) > 0 {
		remoteHead, unknown := r.host.remote.FetchRef(ctx, r.store, r.name)
		if unknown != nil || !slices.Contains(r.failed, remoteHead) {
			return "", cmp.Or(unknown, err)
		}
		r.head = remoteHead
		saved.Parent = remoteHead
		commit, err = r.host.remote.PushFiles(ctx, r.store, saved)
	}
	if err != nil && commit != "" && !errors.Is(err, remote.ErrNonFastForward) {
		r.failed = append(r.failed, commit)
	}
	return commit, err
}
