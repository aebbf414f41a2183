// Package aftercare handles the end of a pull request of ralph's, without an agent. It takes an event, records the end
// in the ledger, and removes the saved state of runs of long ago.
package aftercare

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/quota"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/show/stats"
)

// For reports whether an event is the end of a pull request.
func For(t trigger.Trigger) bool { return t.Event == "pull_request" && t.Action == "closed" }

// Job is a job of the action for such an event.
type Job struct {
	Trigger trigger.Trigger
	Payload []byte // of the same event
	Client  *github.Client
	Prefix  string // of ralph's branches
	Store   *git.Trusted
	Remote  remote.Repository
	Change  func(context.Context, func(quota.Book) (quota.Book, error)) error // changes the ledger
	Now     func() time.Time

	Say  func(string)            // a line of the job's log
	Page func(text string) error // the job's summary
}

// Do does it, or returns why there is nothing to do.
func (j Job) Do(ctx context.Context) (why string, err error) {
	pull, err := github.ReadProposal(j.Payload)
	if err != nil {
		return "", err
	}
	if !pull.Ours || !strings.HasPrefix(pull.HeadRef, j.Prefix) || pull.IsFork(j.Trigger.Repo) {
		return "the pull request is not one of ralph's", nil
	}
	return j.end(ctx, pull)
}

// end records once how a pull request ended, and shows the sums.
func (j Job) end(ctx context.Context, pull github.Pull) (string, error) {
	ours, err := j.Client.Opened(ctx, pull.Author)
	if err != nil || !ours {
		return "ralph did not open the pull request", err
	}
	row := quota.Pull{
		Number: pull.Number,
		Branch: pull.HeadRef,
		Opened: pull.Opened.UTC(),
		End:    quota.Closed,
		Ended:  pull.Ended.UTC(),
	}
	if pull.Merged {
		row.End = quota.Merged
	}
	var book quota.Book
	err = j.Change(ctx, func(b quota.Book) (quota.Book, error) {
		book = b.Over(row)
		return book, nil
	})
	if err != nil {
		return "", err
	}
	j.Say(fmt.Sprintf("pull request #%d: %s", row.Number, row.End))
	if err := j.Page(stats.Of(book.Pulls).Markdown()); err != nil {
		j.Say(err.Error())
	}
	return "no agent is needed", j.clean(ctx)
}

// clean removes the saved state of runs of long ago.
func (j Job) clean(ctx context.Context) error {
	old := Sweep{Store: j.Store, Remote: j.Remote, Now: j.Now(), Age: Retention}
	swept, err := old.Do(ctx)
	for _, one := range swept {
		if one.Kept == "" {
			j.Say("removed " + one.Ref)
		}
	}
	if errors.Is(err, ErrStays) {
		j.Say(fault.Told(err))
		return nil
	}
	return err
}
