package git_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/verify"
)

// swap replaces the content of a loose object.
func swap(t *testing.T, objects, id, kind, text string) {
	t.Helper()
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := fmt.Fprintf(z, "%s %d\x00%s", kind, len(text), text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(objects, id[:2], id[2:])
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, packed.Bytes(), 0o444); err != nil {
		t.Fatal(err)
	}
}

// verified verifies the object ids of a commit with and without a checkout of it.
func verified(t *testing.T, trusted *git.Trusted, commit string, others ...string) error {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clean")
	_, _ = trusted.Clone(t.Context(), git.CloneSpec{Dir: dir, SHA: commit}) // what is missing is said below
	shown := verify.Checkout(t.Context(), trusted, dir, commit, others...)
	read := verify.Checkout(t.Context(), trusted, t.TempDir(), commit, others...)
	if (shown == nil) != (read == nil) {
		t.Errorf("with a checkout: %v, without: %v", shown, read)
	}
	return shown
}

// An object with a wrong content is found anywhere in a commit. git itself reads
// it without an error.
func TestObjectsAreNamedByTheirContent(t *testing.T) {
	for name, test := range map[string]struct{ of, kind, text string }{
		"as it was":     {},
		"a file":        {"HEAD:a", "blob", "swapped\n"},
		"a longer file": {"HEAD:a", "blob", strings.Repeat("x", 1<<20)},
		"an empty file": {"HEAD:a", "blob", ""},
		"a folder":      {"HEAD^{tree}", "tree", ""},
		"the commit":    {"HEAD", "commit", "%s"},
		"no object":     {"HEAD:a", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := newGit(t)
			top := project(t)
			write(t, filepath.Join(top, "large"), strings.Repeat("a line of it\n", 1<<16))
			sh(t, top, "", "git", "add", "-A")
			sh(t, top, "", "git", "commit", "-qm", "more")
			place := must(g.Inspect(t.Context(), top))(t)
			trusted := must(g.Borrow(t.Context(), place, t.TempDir()))(t)
			if test.of != "" {
				id, objects := sh(t, top, "", "git", "rev-parse", test.of), filepath.Join(top, ".git", "objects")
				if test.kind == "commit" {
					test.text = strings.Replace(sh(t, top, "", "git", "cat-file", "commit", "HEAD")+"\n", "more", "less", 1)
				}
				if swap(t, objects, id, test.kind, test.text); test.kind == "" {
					if err := os.Remove(filepath.Join(objects, id[:2], id[2:])); err != nil {
						t.Fatal(err)
					}
				}
			}
			err := verified(t, trusted, place.Head)
			if (err == nil) != (test.of == "") {
				t.Errorf("Checkout = %v", err)
			}
		})
	}
}

// Objects are not looked up in files that others can write, such as a commit
// graph.
func TestCommitGraphsAreNotBelieved(t *testing.T) {
	g, _ := newGit(t)
	top := project(t)
	write(t, filepath.Join(top, "a"), "2")
	sh(t, top, "", "git", "commit", "-qam", "more")
	sh(t, top, "", "git", "commit-graph", "write", "--reachable")
	oid := func(of string) []byte { return must(hex.DecodeString(sh(t, top, "", "git", "rev-parse", of)))(t) }
	tree, other := oid("HEAD^{tree}"), oid("HEAD~1^{tree}")
	file := filepath.Join(top, ".git", "objects", "info", "commit-graph")
	graph := bytes.Replace(must(os.ReadFile(file))(t), tree, other, 1)
	body := graph[:len(graph)-sha1.Size]
	sum := sha1.Sum(body)
	if err := errors.Join(os.Remove(file), os.WriteFile(file, append(body, sum[:]...), 0o444)); err != nil {
		t.Fatal(err)
	}
	if plain := sh(t, top, "", "git", "rev-list", "--objects", "--no-walk", "--no-object-names", "HEAD"); !strings.Contains(plain, hex.EncodeToString(other)) {
		t.Fatalf("plain git is not taken in: %s", plain)
	}
	swap(t, filepath.Join(top, ".git", "objects"), sh(t, top, "", "git", "rev-parse", "HEAD:a"), "blob", "3")
	place := must(g.Inspect(t.Context(), top))(t)
	if err := verified(t, must(g.Borrow(t.Context(), place, t.TempDir()))(t), place.Head); err == nil {
		t.Error("it vouches for a file that was swapped")
	}
}

// Files of a checkout are not read from the store again. Other objects are: trees, files of
// another commit, and files that git changes at checkout.
func TestACheckoutShowsItsFiles(t *testing.T) {
	for name, test := range map[string]struct {
		attributes string
		swapped    string // an object that is swapped once the checkout is made
		bad        bool
	}{
		"as it was":                    {},
		"a tree":                       {swapped: "HEAD:b", bad: true},
		"the commit":                   {swapped: "HEAD", bad: true},
		"a file of the other":          {swapped: "HEAD~1:a", bad: true},
		"a tree of the other":          {swapped: "HEAD~1^{tree}", bad: true},
		"a file that it shows":         {swapped: "HEAD:b/c"},
		"lines that end otherwise":     {attributes: "* text eol=crlf\n"},
		"one of them, and it was read": {attributes: "* text eol=crlf\n", swapped: "HEAD:b/c", bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := newGit(t)
			top := project(t)
			for _, file := range []string{"b/c", "b.c", "b0", "b/c.d/e", "a", ".gitattributes"} { // in another order than git's
				write(t, filepath.Join(top, file), file+"\n")
			}
			write(t, filepath.Join(top, ".gitattributes"), test.attributes)
			if err := errors.Join(os.Chmod(filepath.Join(top, "b0"), 0o755), os.Symlink("b/c", filepath.Join(top, "link"))); err != nil {
				t.Fatal(err)
			}
			sh(t, top, "", "git", "add", "-A")
			sh(t, top, "", "git", "commit", "-qm", "more")
			trusted, span := doubted(t, g, top)
			dir := filepath.Join(t.TempDir(), "clean")
			must(trusted.Clone(t.Context(), git.CloneSpec{Dir: dir, SHA: span.To}))(t)
			if test.swapped != "" {
				kind := sh(t, top, "", "git", "cat-file", "-t", test.swapped)
				text := map[string]string{"commit": sh(t, top, "", "git", "cat-file", "commit", "HEAD~1")}[kind] // another that is in order
				swap(t, filepath.Join(top, ".git", "objects"), sh(t, top, "", "git", "rev-parse", test.swapped), kind, text)
			}
			if err := verify.Checkout(t.Context(), trusted, dir, span.To, span.From); (err != nil) != test.bad {
				t.Errorf("Checkout = %v", err)
			}
		})
	}
}
