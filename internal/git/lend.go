package git

import (
	"context"
	"fmt"
)

// Lend makes dir a repository that reads the objects of the one that project
// lies in, whatever is checked out there. Nothing of ours gets into that one.
func (g Git) Lend(ctx context.Context, project, dir string) (*Trusted, error) {
	at := user{git: g, dir: project}
	if err := at.check(ctx); err != nil {
		return nil, err
	}
	top, err := at.ask(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", project, err)
	}
	at.dir = top
	p := Place{Top: top}
	if err := at.describe(ctx, &p); err != nil {
		return nil, fmt.Errorf("look at %s: %w", top, err)
	}
	t, err := g.create(ctx, dir, p.format)
	if err != nil {
		return nil, err
	}
	return t, lend(t.Dir, p.objects, p.shallow)
}
