package clean_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/lib/clean"
)

func TestMessage(t *testing.T) {
	const long = "\n\nwhy it is so:\n- a@b.org, owner/repo, std::vector, #x, [US-001], skip [x], a[skip:]\n    code\n\nNote: all of it.\n"
	for _, c := range []struct{ why, in, want string }{
		{"honest words stay", "feat(cart): [US-001] - Add it, \"quoted\" & <b>" + long, "feat(cart): [US-001] - Add it, \"quoted\" & <b>" + long},
		{"and end with a newline", "one", "one\n"},

		{"a closing keyword closes nothing", "Fixes #999, closes: #1\n\nResolve GH-12\n", "Fixes `#`999, closes: `#`1\n\nResolve GH`-`12\n"},
		{"in another repository", "fixed o/r#3, see o/r@0123456\n", "fixed o/r`#`3, see o/r`@`0123456\n"},
		{"by address", "close https://github.com/o/r/issues/4, http://ghe.corp/o/r/Pull/5\n", "close https://github.com/o/r/issues`/`4, http://ghe.corp/o/r/Pull`/`5\n"},
		{"in code, which GitHub reads in a commit", "Fixes `#9` for `@ada`\n", "Fixes ``#`9` for ``@`ada`\n"},
		{"a mention notifies no one", "@ada, cc @org/team (@eve)\n", "`@`ada, cc `@`org/team (`@`eve)\n"},

		{"no run of CI is skipped", "a [skip ci] [ci skip] [NO CI] [Skip Actions] [actions skip]\n", "a (skip ci) (ci skip) (NO CI) (Skip Actions) (actions skip)\n"},
		{"nor of other systems", "[ci-skip] [skip_ci] [azurepipelines skip] [CF-Pages-Skip] ***NO_CI***\n", "(ci-skip) (skip_ci) (azurepipelines skip) (CF-Pages-Skip) NO-CI\n"},
		{"nor by what cannot be seen", "[skip\u200b ci] [ skip\nci ]\n", "(skip ci) (skip\nci)\n"},
		{"nor by a trailer", "one\n\n\nskip-checks: true\n", "one\n"},

		{"forged trailers", "one\n\nwhy\n\nSigned-off-by: Ada <ada@example.com>\nReviewed-by: Ada\nRalph-Run: r\n", "one\n\nwhy\n"},
		{"in no paragraph", "one\n\nCo-Authored-By : Ada <a@b>\n\n  > signed-off-by: Eve\n\nwhy\n", "one\n\nwhy\n"},
		{"other trailers go", "one\n\nwhy\n\nChange-Id: I0\nfixes: x\n  more\n\ngit-svn-id: u@1 x\n", "one\n\nwhy\n"},
		{"in no paragraph but the first", "one\n\nwhy\n\nRelease-As: 9.9.9\nBug-Id: 1\n\nmore\n\nPublish-To: npm\n\nend\n", "one\n\nwhy\n\nmore\n\nend\n"},
		{"nor among other lines", "one\n\nwhy\nRelease-As: 9.9.9\nmore\n", "one\n\nwhy\nmore\n"},
		{"words with a colon are none", "pre-commit: one\n\nNote: two\n", "pre-commit: one\n\nNote: two\n"},

		{"nothing is left of trailers", "Signed-off-by: Ada\n", ""},
		{"or of nothing", " \n\n", ""},
		{"line ends and bytes", "one\r\ntwo\x00\xff\x1b[1m\u202e", "one\ntwo\ufffd[1m\n"},
		{"a novel is cut", strings.Repeat("word ", 9000), strings.Repeat("word ", 1999) + "word\n"},
	} {
		if got := clean.CommitMessage(c.in); got != c.want {
			t.Errorf("%s: Message(%q) = %q, want %q", c.why, c.in, got, c.want)
		}
	}
}

// harms are what GitHub, and CI systems, act on in a commit's message.
var harms = regexp.MustCompile(`(?i)(?:^|\W)@(?-i:[A-Za-z0-9])|#[0-9]|\bgh-[0-9]|/issues/[0-9]|\[(?:skip ci|ci skip|no ci|skip actions|actions skip)\]|\*\*\*no_ci\*\*\*|` +
	`(?m:^(?:signed-off-by|co-authored-by|ralph-run|skip-checks):)`)

func FuzzMessage(f *testing.F) {
	for _, a := range append(attacks, "[skip [skip ci]]", "[***NO_CI***skip ci]", "a\n\nSigned-off\n-by: x", "@@a #1#2 GH-GH-1", "x\n\nA-b: c\n\nA-b: Ralph-Run: [no ci]", "c`@ſ") {
		f.Add(a)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := clean.CommitMessage(text)
		if found := harms.FindString(once); found != "" {
			t.Errorf("Message(%q) = %q does %q", text, once, found)
		}
		if again := clean.CommitMessage(once); again != once {
			t.Errorf("Message(%q) = %q, and of that %q", text, once, again)
		}
	})
}
