package merging_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/merging"
)

// What people push is built on without the work that is open, also where they changed that. Another machine makes the same
// commit again.
func TestWhatARunBuildsOn(t *testing.T) {
	for file, want := range map[string]string{"theirs": "base proven theirs", "open": "base proven"} {
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

// Where people changed lines of the open work, or right beside them, what was proven stays. Their other lines are there.
func TestWhatPeopleChangeBesideOpenWork(t *testing.T) {
	const proven, open = "one\n\ntwo\ngreet Hello\n", "one\n\ntwo\ngreet 1 1\nbye Goodby\n"
	for name, test := range map[string]struct{ proven, open, pushed, want string }{
		"beside what was weakened":  {proven, open, "one\n\ntwo\ngreet 1 1\nbye Goodbye\n", proven},
		"what was weakened":         {proven, open, "one\n\ntwo\ngreet 2 2\nbye Goodby\n", proven},
		"all that was weakened":     {proven, open, "one\n\ntwo\n", proven},
		"a further line":            {proven, open, open + "price 7\n", proven},
		"a fix with a further line": {proven, open, "one\n\ntwo\ngreet 1 1\nbye Goodbye\nprice 7\n", proven},
		"a line in the midst":       {proven, open, "one\n\ntwo\ngreet 1 1\nprice 7\nbye Goodby\n", proven},
		"a line before":             {proven, open, "one\n\ntwo\nprice 7\ngreet 1 1\nbye Goodby\n", proven},
		"a line further above":      {proven, open, "one\nprice 7\n\ntwo\ngreet 1 1\nbye Goodby\n", "one\nprice 7\n\ntwo\ngreet Hello\n"},
		"the ends of all lines":     {proven, open, "one\r\n\r\ntwo\r\ngreet 1 1\r\nbye Goodbye\r\n", "one\r\n\r\ntwo\r\ngreet Hello\n"},
		"also another line":         {proven, open, "ONE\n\ntwo\ngreet 1 1\nbye Goodbye\n", "ONE\n\ntwo\ngreet Hello\n"},
		"also a proven line":        {proven, open, "one\n\nTWO\ngreet 2 2\nbye Goodby\n", "one\n\nTWO\ngreet Hello\n"},
		"around what was removed":   {proven, "one\n\ntwo\nend\n", "one\n\nTWO\nEND\n", "one\n\nTWO\ngreet Hello\n"},
		"no newline at the end":     {"greet Hello", "greet 1 1", "greet 1 1\nprice 7", "greet Hello"},
		"bytes":                     {"\x00greet Hello\n", "\x00greet 1 1\n", "\x00greet 2 2\n", "\x00greet Hello\n"},
		"a file that they removed":  {proven, open, "", ""},
	} {
		r := newRepository(t)
		r.commit("base", "base\n")
		sound, pushed := r.commit("a_test", test.proven), r.commit("a_test", test.open)
		if test.pushed == "" {
			r.call("rm", "-q", "a_test")
			r.commit("more", "theirs\n")
		} else {
			r.commit("a_test", test.pushed)
		}
		want := "a_test=" + test.want
		if test.want == "" {
			want = "base=base\nmore=theirs\n"
		}
		if got := r.builtOn(sound, pushed); !strings.HasPrefix(got, want) {
			t.Errorf("%s: builds on %q, want %q", name, got, test.want)
		}
	}
	for name, moved := range map[string]string{"a folder in its place": "a_test/x", "another name": "b_test"} {
		r := newRepository(t)
		sound := r.commit("a_test", strings.Repeat("a line\n", 20)+proven)
		r.call("rm", "-q", "a_test")
		pushed := r.commit(moved, strings.Repeat("a line\n", 20)+open)
		r.commit(moved, strings.Repeat("a line\n", 20)+"a fix\n")
		if got, want := r.builtOn(sound, pushed), "a_test="+strings.Repeat("a line\n", 20)+proven; got != want {
			t.Errorf("%s: builds on %q, want %q", name, got, want)
		}
	}
}

// An older version of a test file gets what people changed later, also right beside what was added to it meanwhile.
func TestWhatPeopleChangeLater(t *testing.T) {
	const first, second = "def test_a():\n    assert a() == 1\n", "\n\ndef test_b():\n    assert b() == 2\n"
	for name, c := range map[string]struct{ older, sound, pushed, want string }{
		"an expectation": {first, first + second, strings.Replace(first, "1", "7", 1) + second, strings.Replace(first, "1", "7", 1)},
		"a row":          {"a 1\n", "a 1\nb 2\n", "a 7\nb 2\n", "a 7\n"},
		"two of three":   {"a 1\nb 2\n", "a 1\nb 2\nc 3\n", "a 1\nb 7\nc 8\n", "a 1\nb 7\n"},
		"what differs":   {"a 1\n", "a\nb 2\n", "a ?\nb 7\n", "a 1\n"},
		"bytes":          {"a\x00 1\n", "a\x00 1\nb 2\n", "a\x00 7\nb 2\n", "a\x00 1\n"},
	} {
		r := newRepository(t)
		older, sound, pushed := r.commit("tests", c.older), r.commit("tests", c.sound), r.commit("tests", c.pushed)
		trusted := r.trusted()
		made, err := merging.With(t.Context(), trusted, older, journal.Joined{Sound: sound, Onto: &journal.Onto{Commit: pushed}})
		if err != nil {
			t.Fatal(err)
		}
		if text, err := trusted.ReadFile(t.Context(), git.At{Commit: made, Path: "tests"}, 999); err != nil || string(text) != c.want {
			t.Errorf("%s: %q, %v, want %q", name, text, err, c.want)
		}
	}
}

// An agent moved a test, and people remove what it made of it: they did not remove the older version.
func TestWhatPeopleNeverHad(t *testing.T) {
	r := newRepository(t)
	older := r.commit("a_test", strings.Repeat("a line\n", 20))
	r.call("rm", "-q", "a_test")
	sound := r.commit("notes", strings.Repeat("a line\n", 20))
	r.call("rm", "-q", "notes")
	pushed := r.commit("b_test", "b\n")
	trusted := r.trusted()
	made, err := merging.With(t.Context(), trusted, older, journal.Joined{Sound: sound, Onto: &journal.Onto{Commit: pushed}})
	if err != nil {
		t.Fatal(err)
	}
	names, err := trusted.Files(t.Context(), made)
	if got := strings.Join(names, " "); err != nil || got != "a_test b_test" {
		t.Errorf("has %q, %v", got, err)
	}
}

// builtOn returns the files on which a run builds, if people pushed the newest commit.
func (r repository) builtOn(sound, pushed string) (files string) {
	r.t.Helper()
	theirs := r.call("rev-parse", "HEAD")
	r.call("reset", "-q", "--hard", pushed)
	run := journal.Run{Sound: sound, Head: r.commit("newer", "newer\n"), Branch: "work"}
	trusted := r.trusted()
	joined, err := merging.Join(r.t.Context(), trusted, run, journal.Joined{Of: journal.OfBranch, With: theirs}, pushed)
	if err != nil || joined.Onto == nil {
		r.t.Fatalf("%+v, %v", joined, err)
	}
	names, err := trusted.Files(r.t.Context(), joined.Onto.Commit)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, name := range names {
		text, err := trusted.ReadFile(r.t.Context(), git.At{Commit: joined.Onto.Commit, Path: name}, 999)
		if err != nil {
			r.t.Fatal(err)
		}
		files += name + "=" + string(text)
	}
	return files
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

// What another story made stays in the code before a story, also if some of that story was done first. Lines that both
// changed are as they were.
func TestWithoutAStorysOwnWork(t *testing.T) {
	for file, want := range map[string]string{"theirs": "one three", "own": "one three", "base": "one four"} {
		r := newRepository(t)
		from := r.commit("base", "one\nthree\n")
		r.commit("own", "own\n")
		to := r.commit("base", "one, two\nthree\n")
		r.commit("theirs", "theirs\n")
		commit := r.commit(file, "one, two, changed by another story\nfour\n")
		trusted := r.trusted()
		left, err := merging.Without(t.Context(), trusted, commit, []journal.CommitsTaken{{From: from, To: to}})
		if err != nil {
			t.Fatal(err)
		}
		names, err := trusted.Files(t.Context(), left)
		if got := strings.Join(names, " "); err != nil || got != "base theirs" {
			t.Errorf("another story changed %s: %q, %v", file, got, err)
		}
		text, err := trusted.ReadFile(t.Context(), git.At{Commit: left, Path: "base"}, 99)
		if got := strings.Join(strings.Fields(string(text)), " "); err != nil || got != want {
			t.Errorf("another story changed %s: %q, %v, want %q", file, got, err, want)
		}
	}
}
