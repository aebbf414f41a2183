package git_test

import (
	stdcmp "cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/box/handover"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

const (
	runBegan = 1_800_000_000
	inTheRun = "1800000100 +0200"
	atFirst  = "1800000000 +0000"
)

// An agent can write any bytes as a commit. GitHub acts on its message, and
// believes its author and date.
func TestTakeCleansCommits(t *testing.T) {
	const words = "feat: one\n\nwhy\n"
	ours := program + " " + inTheRun
	for name, c := range map[string]struct {
		head, message string // as the agent has them
		date          string // of both, as they are taken over; empty: inTheRun
		want          string // message; empty: words. The first of ralph's trailers follows
	}{
		"honest":             {head: "author " + ours + "\ncommitter " + ours, message: words},
		"persons":            {head: "author Ada <ada@example.com> " + inTheRun + "\ncommitter Eve\x1b[31m <e> " + inTheRun, message: words},
		"signed by somebody": {head: "author " + ours + "\ncommitter " + ours + "\ngpgsig -----BEGIN PGP SIGNATURE-----\n x", message: words},
		"encoded":            {head: "author " + ours + "\ncommitter " + ours + "\nencoding UTF-7", message: "+AEA-ada \xe9", want: "+AEA-ada \ufffd\n"},
		"in the future": {
			head: fmt.Sprintf("author %[1]s 99999999999 +0000\ncommitter %[1]s 1800003601 +0000", program), message: words, date: atFirst,
		},
		"long ago, in no time zone": {
			head: fmt.Sprintf("author %[1]s 1799999999 +0000\ncommitter %[1]s 1800000001 +9999", program), message: words, date: atFirst,
		},
		"words that GitHub acts on": {
			head: "author " + ours + "\ncommitter " + ours, message: "fixes #9 [skip ci]\n\ncc @ada\n\nCo-authored-by: A <a@b>\nRalph-Run: other\n",
			want: "fixes `#`9 (skip ci)\n\ncc `@`ada\n",
		},
		"no words":        {head: "author " + ours + "\ncommitter " + ours, want: "chore: a commit without a message\n"},
		"too many":        {head: "author " + ours + "\ncommitter " + ours, message: strings.Repeat("word ", 12_000), want: strings.Repeat("word ", 1999) + "word\n"},
		"our trailers":    {head: "author " + ours + "\ncommitter " + ours, message: words + "\nRalph-Run: r\nRalph-Story: US-001\n", want: words + "\nRalph-Run: r\nRalph-Story: US-001\n"},
		"and one besides": {head: "author " + ours + "\ncommitter " + ours, message: words + "\nRalph-Run: r\nRalph-Story: US-002\n"},
	} {
		if !short.Has(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.commit("x", map[string]string{"a": "1"})
			tree := l.agent("rev-parse", "HEAD^{tree}")
			plant(l, "commit", fmt.Sprintf("tree %s\nparent %s\n%s\n\n%s", tree, l.base, c.head, c.message))
			terms := l.terms()
			terms.Authorship = handover.Authorship{
				Since: time.Unix(runBegan, 999), Until: time.Unix(runBegan+3600, 0), Trailers: []string{"Ralph-Run: r", "Ralph-Story: US-001"},
			}
			got := l.take(terms)
			if len(got.Commits) != 1 {
				t.Fatalf("Take = %+v, want one commit", got)
			}
			who := program + " " + stdcmp.Or(c.date, inTheRun)
			want := fmt.Sprintf("tree %s\nparent %s\nauthor %s\ncommitter %[3]s\n\n%s", tree, l.base, who, stdcmp.Or(c.want, words))
			if !strings.Contains(want, "Ralph-Story") {
				want += "\nRalph-Run: r\n"
			}
			if diff := cmp.Diff(want, l.in("cat-file", "commit", got.To)+"\n"); diff != "" {
				t.Errorf("taken over (-want +got):\n%s", diff)
			}
			if again := l.take(terms); again.To != got.To {
				t.Errorf("taken again it is %s, and was %s", again.To, got.To)
			}
			l.in("fsck", "--strict", "--full")
		})
	}
}

// The messages of ralph's own commits contain titles of stories and names of
// branches.
func TestOwnCommitsAreClean(t *testing.T) {
	long := "feat: " + strings.Repeat("long ", 30)
	for subject, want := range map[string]string{
		"feat: [@ada] - fixes #9 [ci skip]": "feat: [`@`ada] - fixes `#`9 (ci skip)",
		"feat: it greets.":                  "feat: it greets", // commitlint's usual rules refuse this and the next
		long:                                long[:99] + "…",
	} {
		l := newLab(t)
		write(t, l.tree.Dir+"/a", "1")
		message := git.Message{Subject: subject, Trailers: []string{"Ralph-Run: r"}}
		sha := must.Get(must.Get(l.tree.Inspect(t.Context()))(t).CommitAll(t.Context(), message))(t)
		if diff := cmp.Diff(want+"\n\nRalph-Run: r\n", l.agent("log", "-1", "--format=%B", sha)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", subject, diff)
		}
	}
}
