package job

import (
	"context"
	"slices"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
)

// workflows are files that a token needs a permission of its own for.
const workflows = ".github/workflows"

// spare pushes, to a branch of its own, what GitHub takes of work that it refused
// as a whole: all but the workflows that people brought into it. It was never
// proven so, and is for people to go on with.
func (s *site) spare(ctx context.Context, run journal.Run) (branch string, left []string, err error) {
	if !slices.ContainsFunc(run.Failures, func(f journal.PublishFailed) bool { return git.OfWorkflows(f.Why) }) || s.Hub == nil {
		return "", nil, nil
	}
	base, err := s.trusted.Resolve(ctx, "refs/heads/"+run.BaseRef)
	if err != nil {
		return "", nil, err
	}
	rest, err := s.trusted.Rest(ctx, git.LeaveOut{
		Span: git.Span{From: base, To: run.Head}, Folder: workflows, SignOff: run.Policy.SignOff,
		Message: git.Message{Subject: "ralph: the work without its workflows", Trailers: run.Trailers("")},
	})
	if err != nil || rest.SHA == "" {
		return "", nil, err
	}
	free, err := s.Hub.Free(ctx, s.trusted, run.Branch, rest.SHA)
	if err != nil {
		return "", nil, err
	}
	return free, rest.Left, s.Hub.Push(ctx, s.trusted, free, rest.SHA)
}
