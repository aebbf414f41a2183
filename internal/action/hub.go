package action

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/view"
)

// marker finds our comment again.
const marker = "<!-- ralph:progress -->"

// hub publishes a run on GitHub, and is the screen of its comment and of its
// pull request.
type hub struct {
	client *github.Client
	issue  int
	clone  string
	hide   func(string) string

	shown sync.Mutex
	id    int64      // of the progress comment, once it is known
	last  view.Board // what was shown last
}

// remote is the repository with a token that is good now: an App's token lives
// an hour, a run may take longer.
func (h *hub) remote(ctx context.Context) (git.Remote, error) {
	token, err := h.client.GitToken(ctx)
	if err != nil {
		return git.Remote{}, err
	}
	return git.Remote{URL: h.clone, Token: git.Token(token)}, nil
}

// Push brings branch to sha.
func (h *hub) Push(ctx context.Context, from *git.Trusted, branch, sha string) error {
	remote, err := h.remote(ctx)
	if err != nil {
		return err
	}
	return from.Push(ctx, remote, git.Push{Branch: branch, SHA: sha})
}

// OpenPull opens the draft, or finds the pull request that is open.
func (h *hub) OpenPull(ctx context.Context, run journal.Run, text view.Pull) (journal.PullOpened, error) {
	pull, err := h.client.OpenPull(ctx, github.NewPull{
		Branch: run.Branch, Base: run.BaseRef, Title: h.hide(text.Title), Body: h.hide(text.Body), Draft: true,
	})
	if err != nil {
		return journal.PullOpened{}, err
	}
	return journal.PullOpened{Number: pull.Number, URL: pull.URL, Draft: pull.Draft || pull.Says()}, nil
}

// ReadyPull turns the draft of the run's branch ready.
func (h *hub) ReadyPull(ctx context.Context, run journal.Run) error {
	pull, open, err := h.client.FindPull(ctx, run.Branch)
	if err != nil {
		return err
	}
	if !open {
		return fmt.Errorf("pull request #%d is not open any more", run.Pull.Number)
	}
	return h.client.ReadyPull(ctx, pull)
}

// Comment finds the progress comment of the issue, or makes it.
func (h *hub) Comment(ctx context.Context, board view.Board) (journal.CommentPosted, error) {
	h.shown.Lock()
	defer h.shown.Unlock()
	found, is, err := h.client.FindComment(ctx, h.issue, marker)
	if err != nil {
		return journal.CommentPosted{}, err
	}
	text := h.hide(board.Comment)
	if is {
		found, err = h.client.EditComment(ctx, h.issue, found.ID, text)
	} else {
		found, err = h.client.CreateComment(ctx, h.issue, text)
	}
	if err != nil {
		return journal.CommentPosted{}, err
	}
	h.id, h.last.Comment = found.ID, board.Comment
	return journal.CommentPosted{ID: found.ID, URL: found.URL}, nil
}

// Show keeps the comment and the pull request's text current. Only a text that
// changed is sent.
func (h *hub) Show(ctx context.Context, board view.Board) error {
	h.shown.Lock()
	defer h.shown.Unlock()
	if h.id != 0 && board.Comment != h.last.Comment {
		comment, err := h.client.EditComment(ctx, h.issue, h.id, h.hide(board.Comment))
		if err != nil {
			return err
		}
		h.id, h.last.Comment = comment.ID, board.Comment
	}
	if board.Pull.Number != 0 && board.Pull != h.last.Pull {
		if _, err := h.client.EditPull(ctx, board.Pull.Number, "", h.hide(board.Pull.Body)); err != nil {
			return err
		}
		h.last.Pull = board.Pull
	}
	return nil
}

// origin fetches the code from GitHub.
type origin struct {
	git git.Git
	hub *hub
}

// Fetch makes dir a repository of our own that holds the base and the branch.
func (o origin) Fetch(ctx context.Context, dir, base, branch string) (*git.Trusted, error) {
	remote, err := o.hub.remote(ctx)
	if err != nil {
		return nil, err
	}
	return o.git.Mirror(ctx, remote, dir, git.Want{Base: base, Work: []string{branch}})
}

// summary is the job's summary page: the file is written anew each time.
type summary struct {
	path string
	hide func(string) string
}

// Show writes the page.
func (s summary) Show(_ context.Context, board view.Board) error {
	if s.path == "" {
		return nil
	}
	if err := os.WriteFile(s.path, []byte(s.hide(board.Summary)), 0o644); err != nil {
		return fmt.Errorf("write the job's summary: %w", err)
	}
	return nil
}
