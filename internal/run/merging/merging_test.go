package merging_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/run/merging"
	"github.com/ralph-loop/ralph/internal/testsupport/gittest"
)

// A line that marks a conflict is left where no side of the merge had it.
func TestMarksThatAreLeft(t *testing.T) {
	for text, want := range map[string]bool{
		"a\nb\n":                       false,
		"<<<<<<< c1\na\n":              true,
		"a\n=======\nb\n":              true,
		"a\r\n=======\r\nb\r\n":        true,
		"||||||| b0\n":                 true,
		"a\n>>>>>>> b1":                true,
		"a ======= b\n========\n":      false,
		"<<<<<<< docs\n>>>>>>> docs\n": false,
	} {
		if got := merging.Marked([]byte(text), []byte("a\n"), []byte("<<<<<<< docs\r\n>>>>>>> docs\n")); got != want {
			t.Errorf("%q is marked: %t, want %t", text, got, want)
		}
	}
	if title := []byte("Install\n=======\n"); merging.Marked(title, title) {
		t.Error("a title that one side has is a mark")
	}
}

// Files that others added to a folder stay there, also if the work moved its other files to two.
func TestAFolderThatWasMoved(t *testing.T) {
	r := newRepository(t)
	for _, name := range []string{"old/1", "old/2", "old/3", "old/4"} {
		r.commit(name, "the text of "+name)
	}
	r.call("branch", "work")
	theirs := r.commit("old/5", "new\n")
	r.call("switch", "-q", "work")
	for _, name := range []string{"1", "2", "3", "4"} {
		r.write(string("aabb"[name[0]-'1'])+"/"+name, "the text of old/"+name)
	}
	r.call("rm", "-rq", "old")
	ours := r.commit("more", "ours\n")
	trusted := r.trusted()
	merged, err := merging.Merge(t.Context(), trusted, merging.Commits{Ours: ours, Theirs: theirs, Message: git.Message{Subject: "merge"}})
	if err != nil || len(merged.Conflicts) > 0 {
		t.Fatalf("%+v, %v", merged, err)
	}
	names, err := trusted.Ask(t.Context(), "ls-tree", "-r", "--name-only", merged.SHA)
	if want := "a/1 a/2 b/3 b/4 more old/5"; err != nil || strings.Join(strings.Fields(names), " ") != want {
		t.Errorf("%q, %v, want %s", names, err, want)
	}
}

// A resolution may not take back what the others changed in files without a conflict.
func TestLostChanges(t *testing.T) {
	r := newRepository(t)
	r.commit("price", "5\n")
	r.commit("gone", "old\n")
	base := r.commit("greet", "hello\n")
	r.call("branch", "work")
	r.call("rm", "-q", "gone")
	r.commit("price", "7\n")
	theirs := r.commit("greet", "good day\n")
	r.call("switch", "-q", "work")
	head := r.commit("greet", "hi\n")

	m := r.begin(head, base, theirs)
	for name, test := range map[string]struct {
		files map[string]string
		lost  []string
	}{
		"only the conflict":      {map[string]string{"price": "7\n"}, nil},
		"a further change":       {map[string]string{"price": "8\n"}, nil},
		"as it was":              {map[string]string{"price": "5\n"}, []string{"price"}},
		"a file that is back":    {map[string]string{"price": "7\n", "gone": "old\n"}, []string{"gone"}},
		"another with that name": {map[string]string{"price": "7\n", "gone": "new\n"}, nil},
	} {
		got, lost := m.settle("hi, good day\n", test.files)
		if !slices.Equal(lost, test.lost) || (got.To == m.run.Merging.Parted.To) != (test.lost != nil) {
			t.Errorf("%s: %+v, want lost %q", name, got, test.lost)
		}
	}
}

// What looks like marks is none where git moved it, with a file that the others renamed.
func TestATitleInARenamedFile(t *testing.T) {
	r := newRepository(t)
	long := strings.Repeat("a line\n", 20)
	r.commit("a.rst", long)
	base := r.commit("greet", "hello\n")
	r.call("branch", "work")
	r.call("mv", "a.rst", "b.rst")
	theirs := r.commit("greet", "good day\n")
	r.call("switch", "-q", "work")
	r.commit("a.rst", long+"Install\n=======\n")
	m := r.begin(r.commit("greet", "hi\n"), base, theirs)
	if _, refused := m.settle("hi, good day\n", nil); len(refused) > 0 {
		t.Errorf("refused %q", refused)
	}
	if _, refused := m.settle("<<<<<<< hi\n", nil); !slices.Equal(refused, []string{"greet"}) {
		t.Errorf("refused %q, want the marks", refused)
	}
}

// A commit of ralph itself is the run's own. Others can copy its message, but not its committer.
func TestOwnCommits(t *testing.T) {
	for committer, own := range map[string]bool{"ralph-loop@users.noreply.github.com": true, "ada@example.com": false} {
		r := newRepository(t)
		pushed := r.commit("base", "base\n")
		run := journal.Run{ID: "r1", Head: pushed, Branch: "work"}
		gittest.Sh(t, r.dir, "", "env", "GIT_COMMITTER_EMAIL="+committer, "git", "commit", "-q", "--allow-empty", "-m", "mine\n\nRalph-Run: r1", "--author", git.Ralph.String())
		joined, err := merging.Join(t.Context(), r.trusted(), run, journal.Joined{Of: journal.OfBranch, With: r.call("rev-parse", "HEAD")}, pushed)
		if err != nil || joined.Own != own {
			t.Errorf("by %s: own: %t, %v, want %t", committer, joined.Own, err, own)
		}
	}
}

// A merge brings no change of the work to a file that others moved to a protected place: people merge that.
func TestRenamedToAProtectedPlace(t *testing.T) {
	r := newRepository(t)
	call, commit := r.call, r.commit
	long := strings.Repeat("a step\n", 20)
	base := commit("build.yml", long)
	for _, branch := range []string{"work", "clashing", "elsewhere"} {
		call("branch", branch)
	}
	call("rm", "-q", "build.yml")
	commit(".github/build.yml", long)
	theirs := commit("other", "theirs\n")
	call("switch", "-q", "elsewhere")
	elsewhere := commit("more", "ours\n")
	call("switch", "-q", "work")
	work := commit("build.yml", long+"an evil step\n")
	call("switch", "-q", "clashing")
	commit("build.yml", long+"an evil step\n")
	clashing := commit("other", "ours\n")
	call("switch", "-q", "main")

	trusted := r.trusted()
	for _, of := range []journal.Line{journal.OfBase, journal.OfBranch} {
		for head, want := range map[string][]string{work: {".github/build.yml"}, clashing: {"other", ".github/build.yml"}, elsewhere: nil} {
			if head == clashing && of == journal.OfBranch {
				want = want[:1] // people see to all of it
			}
			run := journal.Run{Head: head, Base: base, BaseRef: "main", Branch: "work"}
			run.Policy = policy.Policy{Protect: policy.ProtectedFiles(), Limits: policy.Limits{Iterations: 9}}
			got, err := merging.Join(t.Context(), trusted, run, journal.Joined{Of: of, With: theirs}, base)
			if err != nil || !slices.Equal(got.Conflicts, want) || (got.To == head) != (want != nil) {
				t.Errorf("%s: %+v, %v, want conflicts in %q", of, got, err, want)
			}
		}
	}
}
