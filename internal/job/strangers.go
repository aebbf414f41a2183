package job

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
)

// strangers looks for other repositories in the user's own folder, where it has a
// wall, and tells of those that came or changed until what it returns is called:
// they are not put back, and the user's own git may ask them.
func (s *site) strangers(ctx context.Context, emit emit) func() {
	if s.Wall == nil || s.trusted != nil && s.Own == nil {
		return func() {}
	}
	top := s.Dir
	if s.Own != nil {
		top = s.Own.Dir
	}
	before := git.LookNested(ctx, top)
	if ctx.Err() != nil {
		return func() {} // nothing runs any more, and not all was looked at
	}
	return func() {
		ctx := ctx
		if ctx.Err() != nil { // they worked until now
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), parting)
			defer cancel()
		}
		if news := Strangers(git.LookNested(ctx, top).Since(before)); news != nil {
			emit(*news)
		}
	}
}

// Strangers is the news of such repositories; nil where there are none.
func Strangers(names []string) *journal.Noted {
	if len(names) == 0 {
		return nil
	}
	const few = 5
	what := "made or changed inside, a repository within yours: " + strings.Join(names[:min(few, len(names))], ", ")
	if more := len(names) - few; more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	return &journal.Noted{What: what, Hint: "look at its configuration and hooks before you run git there, or in yours: git runs what they say"}
}
