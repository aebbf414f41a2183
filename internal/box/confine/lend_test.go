package confine_test

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/must"

	"github.com/ralph-loop/ralph/internal/box/confine"
)

// What the program writes in an agent's tree belongs to the agent, however deep
// it has nested folders of its own there, and as long as the context lasts.
func TestLend(t *testing.T) {
	tree, uid := t.TempDir(), cmp.Or(os.Getuid(), 1500)
	deep := filepath.Join(tree, "ralph", strings.Repeat("d/", 1000))
	for _, dir := range []string{deep, filepath.Join(tree, "other")} {
		must.Do(t, os.MkdirAll(dir, 0o755))
	}
	plan := filepath.Join(tree, "ralph", "prd.json")
	if err := errors.Join(os.WriteFile(plan, nil, 0o644), os.Symlink("../other", filepath.Join(tree, "ralph", "link"))); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	if err := confine.Lending(uid).Lend(ctx, tree, "ralph"); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end, Lend = %v", err)
	}
	must.Do(t, confine.Lending(uid).Lend(t.Context(), tree, "ralph"))
	for name, want := range map[string]int{plan: uid, filepath.Join(tree, "ralph"): uid, filepath.Join(tree, "other"): os.Getuid()} {
		info := must.Get(os.Lstat(name))(t)
		if stat, is := info.Sys().(*syscall.Stat_t); !is || int(stat.Uid) != want {
			t.Errorf("%s belongs to %v, want %d", name, info.Sys(), want)
		}
	}
}
