package git_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/git"
)

// says returns a git that prints this text.
func says(text string) git.Runner {
	return func(context.Context, git.Call) ([]byte, error) { return []byte(text), nil }
}

// FuzzStatus checks that no line of a status is lost: ralph would overwrite that work.
func FuzzStatus(f *testing.F) {
	const modes = " N... 100644 100644 100644 aaaa bbbb "
	f.Add("# branch.oid (initial)\x00# branch.head main\x001 .M" + modes + "a file\x00? new/\x00")
	f.Add("1 M.\x001 \x001 MMM" + modes + "x\x00u UU N... 1 2 3 4 a b c path\x00! ignored\x00")
	f.Add("1 .M" + modes + "a\nb\x002 R. N... 100644 100644 100644 a b R100 new\x00old\x00?\x00\xff")
	f.Add("1 .M S.M. 160000 160000 160000 a b sub\x00? .ralph/x\x00")
	f.Fuzz(func(t *testing.T, text string) {
		entries, dirty, err := git.StatusOf(t.Context(), says(text))
		if err != nil {
			t.Fatal(err)
		}
		want, odd := 0, false
		for line := range strings.SplitSeq(text, "\x00") {
			if line != "" && line[0] != '#' {
				want++
				odd = odd || line[0] != '1' && !strings.Contains(line, ".ralph")
			}
		}
		if entries != want || odd && !dirty {
			t.Errorf("%d entries, dirty %t; want %d and %t", entries, dirty, want, odd)
		}
	})
}

// FuzzCompare checks that a comparison is refused, or read completely.
func FuzzCompare(f *testing.F) {
	sha := strings.Repeat("a", 40)
	f.Add(":100644 100755 " + sha + " " + sha + " M\x00a file\x00:000000 120000 " + sha + " " + sha + " A\x00-rf\n\x00")
	f.Add(":100644 100644 " + sha + " " + sha + " R100\x00old\x00new\x00")
	f.Add(":100644 100644 " + sha + " " + sha + " M\x00\x00:")
	f.Add(":100644 100644 " + sha + " " + sha + " M\nx\x00path\x00")
	f.Add(":100644 100644 " + sha + " " + sha + " M\x00cut of")
	f.Add(":100644 100644 " + sha + " " + sha + " M\x00")
	f.Fuzz(func(t *testing.T, text string) {
		changes, err := git.Compare(t.Context(), says(text), git.Span{})
		if err != nil {
			return
		}
		rest := text
		for _, c := range changes {
			begins := ":" + c.OldMode + " " + c.Mode + " " + c.OldID + " " + c.ID + " "
			letter, after, is := strings.Cut(strings.TrimPrefix(rest, begins), "\x00"+c.Path+"\x00")
			if !strings.HasPrefix(rest, begins) || !is || c.Path == "" || strings.ContainsAny(letter, "\x00\n ") {
				t.Fatalf("%+v is read of %q", c, rest)
			}
			rest = after
		}
		if rest != "" {
			t.Errorf("%q is left", rest)
		}
	})
}
