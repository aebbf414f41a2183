package git_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/must"

	"github.com/ralph-loop/ralph/internal/lib/process"
)

// Accepted objects are complete and readable for others.
func TestTakeIsWhole(t *testing.T) {
	l := newLab(t)
	to := l.commit("one", map[string]string{"a": "1", "src/main.go": "package main // changed\n"})
	l.take(l.terms())
	if !l.has(to) {
		t.Error("it was not taken in")
	}
	for _, end := range []string{"pack", "idx"} {
		for _, name := range must.Get(filepath.Glob(filepath.Join(l.trusted.Dir, "objects/pack/*."+end)))(t) {
			if mode := must.Get(os.Stat(name))(t).Mode().Perm(); mode != 0o444 {
				t.Errorf("%s has mode %o, want 444: the agent reads it as another user", filepath.Base(name), mode)
			}
		}
	}
	l.in("fsck", "--strict", "--full")
}

// A pack with objects that do not belong to its tip is accepted, but without these
// objects.
func TestTakeLeavesTheRest(t *testing.T) {
	l := newLab(t)
	extra := l.hash("not asked for")
	l.tree.Run = func(ctx context.Context, c process.Command) (process.Result, error) {
		if c.Argv[1] == "pack-objects" {
			c.Stdin = io.MultiReader(c.Stdin, strings.NewReader(extra+"\n"))
		}
		return l.seen.run(ctx, c)
	}
	to := l.commit("one", map[string]string{"a": "1"})
	if got := l.take(l.terms()); got.To != to || !l.has(to) {
		t.Errorf("Take = %+v, want the commit", got)
	}
	if l.has(extra) {
		t.Error("an unexamined commit was taken in")
	}
}
