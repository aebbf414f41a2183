package job

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

func (s *trees) commandRunner(dir string) sandbox.Exec { return s.runnerWith(dir, false) }

func (s *trees) runnerWith(dir string, setup bool) sandbox.Exec {
	if s.Sandbox == nil {
		return s.Exec
	}
	at := s.access(dir)
	at.Setup = setup
	return s.Sandbox.Around(at)
}

// access is to the agent's folder. In a box, it has the path of the user's.
func (s *trees) access(dir string) confine.Access {
	if s.Box != nil && dir == s.box().Dir {
		return accessTo(s.box(), s.trusted)
	}
	at := confine.Access{Write: []string{dir}}
	if s.trusted != nil {
		at.Read = s.trusted.Lent()
	}
	return at
}

func (s *trees) makeEmptyDir(ctx context.Context, dir string) error {
	if err := errors.Join(untrusted.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return fmt.Errorf("clear %s: %w", dir, err)
	}
	return s.Sandbox.Lend(ctx, dir, ".")
}

func (s *activeRun) allowPackageHosts(ctx context.Context) error {
	if s.trusted == nil {
		return nil
	}
	notes, err := s.Sandbox.AllowPackages(ctx, s.CheckEnv, func() ([]string, error) { return s.trusted.Files(ctx, s.Run().Base) })
	for _, note := range notes {
		err = errors.Join(err, s.Append(journal.Noted{What: note}))
	}
	return err
}
