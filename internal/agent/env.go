package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// env tells every agent where it stands.
func (o Order) env() []string {
	return environ.Pairs(
		"RALPH_ITERATION", strconv.Itoa(o.Iteration),
		"RALPH_MAX_ITERATIONS", strconv.Itoa(o.Max),
		"RALPH_STORY", o.Story,
	)
}

// within are names in a folder.
func within(folder string, names ...string) []string {
	var paths []string
	for _, name := range names {
		paths = append(paths, folder+"/"+name)
	}
	return paths
}

// furnish makes the home that the adapter's program is given, under the folder
// for temporary files that the program has too, and tells the order where it
// is. Leaving takes all of it away, with what the program left there. It does
// nothing for a program that has the user's own home.
func (h *Hand) furnish(ctx context.Context, o *Order) (leave func() error, err error) {
	if len(h.Adapter.Home) == 0 {
		return func() error { return nil }, nil
	}
	home, err := os.MkdirTemp(environ.Get(h.Env, "TMPDIR"), "ralph-home-")
	if err != nil {
		return nil, err
	}
	leave = func() error { return untrusted.RemoveAll(home) }
	for name, text := range h.Adapter.Home {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), untrusted.WriteFile(path, []byte(text), 0o600)); err != nil {
			return nil, errors.Join(err, leave())
		}
	}
	if h.Lend != nil {
		if err := h.Lend(ctx, home); err != nil {
			return nil, errors.Join(err, leave())
		}
	}
	o.Home = home
	return leave, nil
}
