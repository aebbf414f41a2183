package git_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git"
)

// forest is a repository of trees without files.
type forest struct {
	*testing.T
	dir     string
	trusted *git.Trusted
	things  []string // what an entry may be: mode, kind and object
	blob    string   // one of the objects
}

func newForest(t *testing.T, format string) forest {
	t.Helper()
	g, _ := newGit(t)
	f := forest{T: t, dir: t.TempDir()}
	f.git("", "init", "-q", "--object-format="+format)
	f.trusted = must(g.Open(filepath.Join(f.dir, ".git")))(t)
	f.blob = f.git("one", "hash-object", "-w", "--stdin")
	f.things = []string{
		"100644 blob " + f.blob, "100644 blob " + f.git("two", "hash-object", "-w", "--stdin"), "100755 blob " + f.blob,
		"120000 blob " + f.blob, "160000 commit " + strings.Repeat("c", len(f.blob)),
	}
	return f
}

func (f forest) git(stdin string, args ...string) string {
	f.Helper()
	return sh(f.T, f.dir, stdin, append([]string{"git"}, args...)...)
}

// grow makes a tree by chance; its names are such that files and folders of the
// same, or of nearly the same, take turns.
func (f forest) grow(chance *rand.Rand, depth int) string {
	f.Helper()
	var entries strings.Builder
	for _, name := range []string{"a", "a-b", "a.c", "a0", "ü", "z z"} {
		switch pick := chance.IntN(10); {
		case pick < len(f.things):
			fmt.Fprintf(&entries, "%s\t%s\n", f.things[pick], name)
		case pick < 8 && depth > 0:
			fmt.Fprintf(&entries, "040000 tree %s\t%s\n", f.grow(chance, depth-1), name)
		}
	}
	return f.git(entries.String(), "mktree", "--missing")
}

// compared is what git says of two trees.
func (f forest) compared(from, to string) []string {
	f.Helper()
	var lines []string
	out := strings.Split(f.git("", "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to), "\x00")
	for change := range slices.Chunk(out[:len(out)-1], 2) {
		fields := strings.Fields(change[0])
		lines = append(lines, strings.Join(append(fields[:4], change[1]), " "))
	}
	return lines
}

// TestDifferIsWhatGitCompares has trees compared as a hand-over does and by git.
func TestDifferIsWhatGitCompares(t *testing.T) {
	for format, many := range map[string]int{"sha1": 25, "sha256": 5} {
		f := newForest(t, format)
		chance := rand.New(rand.NewPCG(1, 2))
		before := f.git("", "mktree")
		for range many {
			after := f.grow(chance, 2)
			got, told, err := f.trusted.Differ(t.Context(), git.Span{From: before, To: after})
			if err != nil || !told {
				t.Fatalf("Differ: told %t, %v", told, err)
			}
			if diff := cmp.Diff(f.compared(before, after), got); diff != "" {
				t.Errorf("%s to %s (-git +ours):\n%s", before, after, diff)
			}
			before = after
		}
	}
}

// TestDifferLeavesToGit what is odd, or too much.
func TestDifferLeavesToGit(t *testing.T) {
	f := newForest(t, "sha1")
	raw := string(unhex(f.blob))
	odd := func(entry string) string {
		return f.git(entry, "hash-object", "-t", "tree", "-w", "--stdin", "--literally")
	}
	sub, many := f.grow(rand.New(rand.NewPCG(3, 4)), 0), ""
	for i := range 1000 {
		many += fmt.Sprintf("040000 tree %s\t%d\n", sub, i)
	}
	empty := f.git("", "mktree")
	for name, tree := range map[string]string{
		"an odd mode":              odd("100664 a\x00" + raw),
		"a padded mode":            odd("0100644 a\x00" + raw),
		"a name that is a path":    odd("100644 a/b\x00" + raw),
		"a name twice":             odd("100644 a\x00" + raw + "100755 a\x00" + raw),
		"half an entry":            odd("100644 a\x00" + raw[:9]),
		"a folder that is a file":  odd("40000 a\x00" + raw),
		"a folder that is missing": odd("40000 a\x00" + strings.Repeat("x", 20)),
		"too many folders":         f.git(many, "mktree"),
		"too much in one":          odd(strings.Repeat("100644 "+strings.Repeat("n", 4000)+"\x00"+raw, 1100)),
	} {
		t.Run(name, func(t *testing.T) {
			got, told, err := f.trusted.Differ(t.Context(), git.Span{From: empty, To: tree})
			if err != nil || told {
				t.Errorf("Differ = %v, told %t, %v", got, told, err)
			}
		})
	}
}

// TestTakeStartsFewGits counts those that a hand-over starts: no more for many
// commits than for one.
func TestTakeStartsFewGits(t *testing.T) {
	for _, many := range []int{1, 5} {
		l := newLab(t)
		for i := range many {
			l.commit(fmt.Sprint("commit ", i), map[string]string{fmt.Sprintf("src/deep/f%d.go", i): "package deep\n"})
		}
		seen := must(l.tree.See(t.Context()))(t)
		before := len(l.seen.argv)
		got := must(l.trusted.TakeSeen(t.Context(), l.tree, seen, l.terms()))(t)
		var started []string
		for _, argv := range l.seen.argv[before:] {
			started = append(started, argv[1])
		}
		if diff := cmp.Diff([]string{"pack-objects", "index-pack", "rev-list", "cat-file"}, started); diff != "" {
			t.Errorf("for %d commits (-want +got):\n%s", many, diff)
		}
		if len(got.Commits) != many || len(got.Files) != many || l.in("rev-parse", "refs/ralph/head") != got.To {
			t.Errorf("Take = %+v, want %d commits with a file each, and kept", got, many)
		}
	}
}

// TestTakeHasGitCompareMuch of folders that are too large to be read beside, and
// goes on asking for objects then.
func TestTakeHasGitCompareMuch(t *testing.T) {
	l := newLab(t)
	blob, below := string(unhex(plant(l, "blob", "x"))), ""
	for folder := range 3 { // each in the one before
		var raw strings.Builder
		for i := range 175 {
			fmt.Fprintf(&raw, "100644 %d%03d%s\x00%s", folder, i, strings.Repeat("n", 4000), blob)
		}
		if below != "" {
			raw.WriteString("40000 z\x00" + string(unhex(below)))
		}
		below = plant(l, "tree", raw.String())
	}
	top := l.agent("ls-tree", "HEAD") + "\n040000 tree " + below + "\tz\n"
	whole := sh(t, l.tree.Dir, top, "git", "mktree")
	tip := plant(l, "commit", strings.Replace(commitText(l, "x\n"), l.agent("rev-parse", "HEAD^{tree}"), whole, 1))
	got := l.take(l.terms())
	if got.To != tip || len(got.Files) != 100 || !slices.ContainsFunc(l.seen.argv, func(argv []string) bool { return argv[1] == "diff-tree" }) {
		t.Errorf("Take = %s with %d files, refused for %v, want %s with 100, compared by git", got.To, len(got.Files), got.Refused, tip)
	}
}
