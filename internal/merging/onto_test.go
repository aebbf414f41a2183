package merging_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/merging"
)

// What people push is built on without the work that is open, unless they changed that. Another machine makes the same
// commit again.
func TestWhatARunBuildsOn(t *testing.T) {
	for file, want := range map[string]string{"theirs": "base proven theirs", "open": "base open proven"} {
		r := newRepository(t)
		r.commit("base", "base\n")
		sound := r.commit("proven", "proven\n")
		r.call("switch", "-q", "-c", "theirs")
		pushed := r.commit("open", "open\n")
		theirs := r.commit(file, "what a person wrote\n")
		r.call("switch", "-q", "main")
		r.call("reset", "-q", "--hard", pushed)
		run := journal.Run{Head: r.commit("newer", "newer\n"), Sound: sound, Branch: "work"}
		trusted := r.trusted()
		joined, err := merging.Join(t.Context(), trusted, run, journal.Joined{Of: journal.OfBranch, With: theirs}, pushed)
		if err != nil || joined.Onto == nil {
			t.Fatalf("%+v, %v", joined, err)
		}
		names, err := trusted.Files(t.Context(), joined.Onto.Commit)
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("a change of %s: builds on %q, %v, want %q", file, got, err, want)
		}
		again := r.trusted()
		if err := merging.Restore(t.Context(), again, journal.Run{Grounds: []journal.Joined{joined}}); err != nil {
			t.Fatal(err)
		}
		if tree, err := again.TreeOf(t.Context(), joined.Onto.Commit); err != nil || tree != joined.Onto.Tree {
			t.Errorf("made again: %q, %v, want %q", tree, err, joined.Onto.Tree)
		}
	}
	for committer, own := range map[string]bool{"ralph-loop@users.noreply.github.com": true, "ada@example.com": false} { // who copied the message
		r := newRepository(t)
		pushed := r.commit("base", "base\n")
		run := journal.Run{ID: "r1", Head: pushed, Sound: pushed, Branch: "work"}
		r.call("-c", "user.name="+journal.Author, "-c", "user.email="+committer, "commit", "-q", "--allow-empty", "-m", "mine\n\nRalph-Run: r1", "--author", git.Ralph.String())
		joined, err := merging.Join(t.Context(), r.trusted(), run, journal.Joined{Of: journal.OfBranch, With: r.call("rev-parse", "HEAD")}, pushed)
		if err != nil || joined.Own != own {
			t.Errorf("by %s: own: %t, %v, want %t", committer, joined.Own, err, own)
		}
	}
}

// What the base changed is built on, too. Where it conflicts, what was proven stays until that is resolved.
func TestWhatAMovedBaseChanges(t *testing.T) {
	r := newRepository(t)
	base := r.commit("greet", "hello\n")
	r.call("switch", "-q", "-c", "theirs")
	r.commit("test", "new\n")
	theirs := r.commit("greet", "good day\n")
	r.call("switch", "-q", "main")
	head := r.commit("greet", "hi\n")
	run := journal.Run{Head: head, Base: base, Sound: head, BaseRef: "main", Branch: "work"}
	run.Policy.Limits.Iterations = 9
	trusted := r.trusted()
	joined, err := merging.Join(t.Context(), trusted, run, journal.Joined{Of: journal.OfBase, With: theirs}, base)
	if err != nil || joined.Onto == nil {
		t.Fatalf("%+v, %v", joined, err)
	}
	for name, want := range map[string]string{"greet": "hi\n", "test": "new\n"} {
		if got, err := trusted.ReadFile(t.Context(), git.At{Commit: joined.Onto.Commit, Path: name}, 99); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}
	run.Sound = base
	if joined, err = merging.Join(t.Context(), trusted, run, journal.Joined{Of: journal.OfBase, With: theirs}, base); err != nil || joined.Onto != nil {
		t.Errorf("where nothing is proven: %+v, %v", joined.Onto, err)
	}
}

// What another story made stays in the code before a story, also if some of that story was done first.
func TestWithoutAStorysOwnWork(t *testing.T) {
	for file, want := range map[string]string{"theirs": "base theirs", "own": "base own theirs"} {
		r := newRepository(t)
		from := r.commit("base", "base\n")
		to := r.commit("own", "own\n")
		r.commit("theirs", "theirs\n")
		commit := r.commit(file, "changed by another story\n")
		trusted := r.trusted()
		left, err := merging.Without(t.Context(), trusted, commit, []journal.CommitsTaken{{From: from, To: to}})
		if err != nil {
			t.Fatal(err)
		}
		names, err := trusted.Files(t.Context(), left)
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("another story changed %s: %q, %v, want %q", file, got, err, want)
		}
	}
}
