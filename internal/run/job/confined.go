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
	access := s.access(dir)
	access.Setup = setup
	return s.Sandbox.Around(access)
}

// access is to the agent's folder. In a box, it has the path of the user's.
func (s *trees) access(dir string) confine.Access {
	if s.Box != nil && dir == s.box().Dir {
		return accessTo(s.box(), s.trusted)
	}
	access := confine.Access{Write: []string{dir}}
	if s.trusted != nil {
		access.Read = s.trusted.Lent()
	}
	return access
}

func (s *trees) makeEmptyDir(ctx context.Context, dir string) error {
	if err := clearDir(dir); err != nil {
		return fmt.Errorf("clear %s: %w", dir, err)
	}
	return s.Sandbox.Lend(ctx, dir, ".")
}

// clearDir makes an empty folder, and removes what is there.
func clearDir(dir string) error {
	if err := untrusted.RemoveAll(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o755)
}

func (s *activeRun) allowPackageHosts(ctx context.Context) error {
	if s.trusted == nil {
		return nil
	}
	files := func() ([]string, error) { return s.trusted.Files(ctx, s.Run().Base) }
	notes, err := s.Sandbox.AllowPackages(ctx, s.CheckEnv, files)
	for _, note := range notes {
		err = errors.Join(err, s.Append(journal.Noted{What: note}))
	}
	return err
}
