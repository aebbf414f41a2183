package merging_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/run/merging"
	"github.com/ralph-loop/ralph/internal/testsupport/gittest"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// repository is a user's, on main.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T) repository {
	t.Helper()
	r := repository{t, t.TempDir()}
	r.call("init", "-q", "-b", "main")
	return r
}

func (r repository) call(args ...string) string {
	r.t.Helper()
	return gittest.Git(r.t, r.dir, args...)
}

func (r repository) write(name, text string) {
	r.t.Helper()
	gittest.Write(r.t, filepath.Join(r.dir, name), text)
}

// commit writes a file, commits all changes, and returns the commit.
func (r repository) commit(name, text string) string {
	r.t.Helper()
	r.write(name, text)
	r.call("add", "--all")
	r.call("commit", "-q", "-m", "change "+name)
	return r.call("rev-parse", "HEAD")
}

// trusted returns ralph's own repository with the commits so far.
func (r repository) trusted() *git.Trusted {
	r.t.Helper()
	g := git.Git{Run: new(process.Runner).Run, Path: os.Getenv("PATH"), Home: r.t.TempDir()}
	place := must.Get(g.Inspect(r.t.Context(), r.dir))(r.t)
	trusted := must.Get(g.Borrow(r.t.Context(), place, filepath.Join(r.t.TempDir(), "trusted.git")))(r.t)
	return trusted
}

// merge is begun, with a conflict in the file greet.
type merge struct {
	repository

	run journal.Run
}

func (r repository) begin(head, base, theirs string) merge {
	r.t.Helper()
	run := journal.Run{Head: head, Base: base, BaseRef: "main", Branch: "work"}
	run.Policy.Limits.Iterations = 9
	trusted := r.trusted()
	joined, err := merging.Join(r.t.Context(), trusted, run, journal.Joined{Of: journal.OfBase, With: theirs}, base)
	if err != nil || !slices.Equal(joined.Conflicts, []string{"greet"}) || joined.To == head {
		r.t.Fatalf("%+v, %v, want a merge to finish", joined, err)
	}
	r.call("fetch", "-q", trusted.Dir, joined.To)
	run.Merging.Parted = &joined
	return merge{r, run}
}

// settle commits a resolution, and other files, and returns the names of those that are refused.
func (m merge) settle(greet string, files map[string]string) (taken journal.CommitsTaken, refused []string) {
	m.t.Helper()
	m.call("checkout", "-q", "--force", "-B", "work", m.run.Merging.Parted.To)
	for file, text := range files {
		m.write(file, text)
	}
	to := m.commit("greet", greet)
	taken, err := merging.Settle(m.t.Context(), m.trusted(), m.run, journal.CommitsTaken{From: m.run.Merging.Parted.To, To: to, Tree: m.call("rev-parse", "HEAD^{tree}")})
	if err != nil {
		m.t.Fatal(err)
	}
	for _, one := range taken.Refused {
		refused = append(refused, one.Path)
	}
	return taken, refused
}
