// Package aftercare handles a push to a pull request of ralph's, and its end, without an
// agent. It takes an event, marks a head that others pushed, or records the end in the
// ledger and removes what ended long ago.
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
	"github.com/ralph-loop/ralph/internal/hub/sweep"
	"github.com/ralph-loop/ralph/internal/hub/upkeep"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/show/stats"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// The actions on a pull request that need something.
const (
	pushed = "synchronize"
	closed = "closed"
)

// For reports whether an event is one of those.
func For(t trigger.Trigger) bool {
	if t.Event != "pull_request" {
		return false
	}
	return t.Action == pushed || t.Action == closed
}

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

	Say  func(string)             // a line of the job's log
	Hide func(text string) string // secrets, in what people read
	Page func(text string) error  // the job's summary
}

// Do does it, or tells why there is nothing to do.
func (j Job) Do(ctx context.Context) (why string, err error) {
	pull, err := github.ReadProposal(j.Payload)
	if err != nil {
		return "", err
	}
	if !pull.Ours || !strings.HasPrefix(pull.HeadRef, j.Prefix) || pull.IsFork(j.Trigger.Repo) {
		return "the pull request is not one of ralph's", nil
	}
	if j.Trigger.Action == pushed {
		return j.mark(ctx, pull)
	}
	return j.end(ctx, pull)
}

// mark notes on a pull request that somebody else pushed. It costs a read and at most an edit.
func (j Job) mark(ctx context.Context, pull github.Pull) (string, error) {
	current, err := j.Client.Pull(ctx, pull.Number)
	if err != nil {
		return "", err
	}
	if !current.Open || current.HeadSHA != pull.HeadSHA {
		return "the pull request has a newer head, or is closed", nil
	}
	text := upkeep.Foreign(current.Body, current.HeadSHA, j.Trigger.Sender.Login)
	if text == current.Body {
		return "the text of the pull request names this commit", nil
	}
	ours, err := j.Client.Opened(ctx, pull.Author)
	if err != nil || !ours {
		return "ralph did not open the pull request", err
	}
	if _, err := j.Client.EditPull(ctx, pull.Number, "", j.Hide(text)); err != nil {
		return "", err
	}
	j.Say(fmt.Sprintf("pull request #%d says that its newest commit is not proven yet", pull.Number))
	return "no agent is needed", nil
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
		Head:   pull.HeadSHA,
	}
	if pull.Merged {
		changed, err := j.Client.PeopleCommitted(ctx, row.Number, git.Ralph.Email)
		if err != nil {
			return "", err
		}
		row.End = quota.Unchanged
		if changed {
			row.End = quota.Changed
		}
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
	return "no agent is needed", j.clean(ctx, book)
}

// most limits the calls of one job. The next job continues.
const most = 20

// clean removes labels, branches and state refs of pull requests that ended long ago.
func (j Job) clean(ctx context.Context, book quota.Book) error {
	due := book.Due(j.Now().Add(-sweep.Retention))
	due = due[:min(len(due), most)]
	if len(due) == 0 {
		return nil
	}
	for i, p := range due {
		if p.Branch == "" {
			continue
		}
		_, open, err := j.Client.FindPull(ctx, p.Branch, 0)
		if err != nil {
			return err
		}
		if open { // without its branch it would be closed
			due[i].Branch = ""
		}
	}
	s := sweep.Sweep{Store: j.Store, Remote: j.Remote, Now: j.Now(), Age: sweep.Retention, Prefix: j.Prefix}
	swept, err := s.Do(ctx, due)
	kept := map[string]bool{} // refs that are in use, or stay
	for _, one := range swept {
		if one.Kept != "" {
			kept[one.Ref] = true
			continue
		}
		j.Say("removed " + one.Ref)
	}
	if err != nil && !errors.Is(err, sweep.ErrStays) {
		return err
	}
	if err != nil {
		j.Say(fault.Told(err))
	}
	done, err := j.unlabel(ctx, due, kept)
	return errors.Join(err, j.Change(ctx, func(b quota.Book) (quota.Book, error) { return b.Sweep(done), nil }))
}

// unlabel returns the pull requests that are done.
func (j Job) unlabel(ctx context.Context, due []quota.Pull, kept map[string]bool) ([]quota.Pull, error) {
	var done []quota.Pull
	for _, p := range due {
		for _, number := range []int{p.Issue, p.Number} {
			if number == 0 || kept[fmt.Sprintf("refs/ralph/issue-%d", number)] {
				continue
			}
			for _, state := range view.States() {
				err := j.Client.RemoveLabel(ctx, number, state.Label())
				if err != nil && !errors.Is(err, github.Forbidden) {
					return done, err
				}
				if err != nil {
					j.Say(fault.Told(err))
				}
			}
		}
		done = append(done, p)
	}
	return done, nil
}
