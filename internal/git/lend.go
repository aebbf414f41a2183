package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Lend makes dir a repository that reads the objects of the one that project
// lies in, whatever is checked out there. Nothing of ours gets into that one.
func (g Git) Lend(ctx context.Context, project, dir string) (*Trusted, error) {
	at := user{git: g, dir: project}
	if err := at.check(ctx); err != nil {
		return nil, err
	}
	top, err := at.Ask(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", project, err)
	}
	at.dir = top
	p := Place{Top: top}
	if err := at.describe(ctx, &p); err != nil {
		return nil, fmt.Errorf("look at %s: %w", top, err)
	}
	t, err := g.Init(ctx, dir, p.format)
	if err != nil {
		return nil, err
	}
	return t, t.borrow(p)
}

// lend has the git folder in dir read objects that lie elsewhere. A history
// that was cut short there is cut short here.
func lend(dir, objects, shallow string) error {
	if strings.ContainsAny(objects, "\n") {
		return fmt.Errorf("%q cannot be borrowed from", objects)
	}
	info := filepath.Join(dir, "objects", "info")
	if err := os.MkdirAll(info, 0o755); err != nil {
		return fmt.Errorf("borrow objects: %w", err)
	}
	cut, err := untrusted.ReadFile(shallow, maxOutput)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("borrow objects: %w", err)
	}
	if err == nil {
		err = publish(filepath.Join(dir, "shallow"), string(cut), 0o644)
	} else {
		err = nil
	}
	return errors.Join(err, publish(filepath.Join(info, "alternates"), objects+"\n", 0o444))
}

// publish writes a file that others can read whatever our umask.
func publish(name, text string, mode os.FileMode) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("replace %s: %w", name, err)
	}
	if err := untrusted.WriteFile(name, []byte(text), mode); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return os.Chmod(name, mode)
}
