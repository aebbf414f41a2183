package git

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/pattern"
)

// Status is what a tree holds besides its last commit.
type Status struct {
	Dirty bool
	Paths []string // at most 100
}

// Message is a commit's.
type Message struct {
	Subject  string
	Body     string
	Trailers []string // "Key: value"
}

func (m Message) text() string {
	text := clean.Message(OneLine(m.Subject, 200) + "\n\n" + strings.TrimSpace(m.Body))
	if len(m.Trailers) > 0 {
		text += "\n" + strings.Join(m.Trailers, "\n") + "\n"
	}
	return text
}

// Head is the commit the tree stands at.
func (t *Tree) Head(ctx context.Context) (string, error) {
	sha, err := t.Ask(ctx, "rev-parse", "--verify", "-q", "HEAD^{commit}")
	if err != nil {
		return "", fmt.Errorf("read the tree's HEAD: %w", err)
	}
	return sha, CheckSHA(sha)
}

// Status tells what is not committed: new files too, the ignored not, nor
// those that are ralph's own.
func (t *Tree) Status(ctx context.Context) (Status, error) {
	quiet, err := t.tame(ctx)
	if err != nil {
		return Status{}, err
	}
	s, _, err := quiet.glance(ctx)
	if err != nil {
		return Status{}, err
	}
	paths := s.paths()
	return Status{Dirty: s.Dirty, Paths: paths[:min(100, len(paths))]}, nil
}

func (t *Tree) commit(ctx context.Context, parent, tree string, m Message) (string, error) {
	out, err := t.Do(ctx, Call{
		Args: []string{"commit-tree", "-p", parent, "-F", "-", tree}, Env: t.Author.orRalph().env(),
		Stdin: strings.NewReader(m.text()),
	})
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	return ObjectID(out, nil)
}

// Reset moves the tree from its own HEAD to a commit that the program made of
// it. A file becomes as that commit has it where the two commits differ; every
// other file stays as it is, uncommitted work included. Nothing happens where
// HEAD is that commit already.
func (t *Tree) Reset(ctx context.Context, sha string) error {
	if err := CheckSHA(sha); err != nil {
		return err
	}
	head, err := t.Head(ctx)
	if err != nil || head == sha {
		return err
	}
	quiet, err := t.movable(ctx)
	if err != nil {
		return err
	}
	// From an index of head, and from head to sha, git touches only what differs.
	if err := quiet.run(ctx, "reset", "-q", "--mixed", head); err != nil {
		return fmt.Errorf("forget what was staged: %w", err)
	}
	if err := quiet.run(ctx, "read-tree", "--reset", "-u", head, sha); err != nil {
		return fmt.Errorf("change what differs: %w", err)
	}
	if err := quiet.run(ctx, "reset", "-q", "--soft", sha); err != nil {
		return fmt.Errorf("move to %s: %w", sha, err)
	}
	return nil
}

// Diff is the first limit bytes of a patch from a commit to the working tree,
// new files included, and whether there is more of it.
func (t *Tree) Diff(ctx context.Context, from string, limit int) (text string, cut bool, err error) {
	if err := CheckSHA(from); err != nil {
		return "", false, err
	}
	s, err := t.look(ctx)
	if err != nil {
		return "", false, err
	}
	now, err := s.snapshot(ctx, nil)
	if err != nil {
		return "", false, err
	}
	return patch(ctx, t.Do, Span{From: from, To: now}, limit)
}

var trailer = pattern.Of(`^[A-Za-z][A-Za-z0-9-]*: \S`)

// SignedOff is a message with the line by which the program vouches for the
// commit; as it is where that line stands there already.
func SignedOff(message string) string {
	line := "Signed-off-by: " + Ralph.String()
	text := strings.TrimRight(message, "\n")
	paragraphs := strings.Split(text, "\n\n")
	last := strings.Split(paragraphs[len(paragraphs)-1], "\n")
	if slices.Contains(last, line) {
		return message
	}
	if len(paragraphs) > 1 && trailer.MatchString(last[len(last)-1]) {
		return text + "\n" + line + "\n"
	}
	return text + "\n\n" + line + "\n"
}
