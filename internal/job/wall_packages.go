package job

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/journal"
)

// permit lets those inside through to where the packages of the project come
// from, by its files at the base. The clients themselves are asked, as they are
// inside, where no repository has a say.
func (s *site) permit(ctx context.Context) error {
	if s.Wall == nil || !s.Wall.doors.packages || s.trusted == nil {
		return nil
	}
	files, err := s.trusted.Files(ctx, s.Run().Base)
	if err != nil {
		return err
	}
	bundles := egress.Bundle(files)
	if len(bundles) == 0 {
		return nil
	}
	answer, err := s.Wall.ask(ctx, s.CheckEnv, bundles)
	if ctx.Err() != nil {
		return err
	}
	if err != nil { // then what they ask for is refused, and told with the line that allows it
		return s.Append(journal.Noted{What: "it could not be found out where packages come from: " + err.Error(), Hint: "name the hosts in allow-domains"})
	}
	s.Wall.doors.permit(answer.Names)
	for _, note := range answer.Notes {
		if err := s.Append(journal.Noted{What: note}); err != nil {
			return err
		}
	}
	return nil
}

// ask asks the clients of bundles, inside.
func (w *Wall) ask(ctx context.Context, env, bundles []string) (answer egress.Answer, err error) {
	if err := w.rooms.clear("ask"); err != nil {
		return answer, fmt.Errorf("make a folder to ask in: %w", err)
	}
	dir := filepath.Join(w.rooms.dir, "ask")
	defer func() { _ = os.RemoveAll(dir) }()
	asker := egress.Asker{
		Run: w.Around(Place{Write: []string{dir}}), Env: append([]string{}, env...), Dir: dir, Fetch: w.doors.route.Fetch,
	}
	asker.Env = w.Env(asker.Env, false)
	return asker.Ask(ctx, bundles)
}
