package checkout_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/checkout"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// A code file with inline tests is tried with the base's lines from the first test on. A file
// that only shares words with test names is not.
func TestInlineTests(t *testing.T) {
	const tests = "#[cfg(test)]\nmod tests {\n  fn ten() { assert_eq!(price(10), 30) }\n}\n"
	bent := strings.ReplaceAll(tests, "30", "20")
	for name, c := range map[string]struct{ was, now, ran, want string }{
		"bent":                     {"old\n" + tests, "new\n" + bent, "price::tests::ten", "new\n" + tests},
		"the product alone":        {"old\n" + tests, "new\n" + tests, "price::tests::ten", ""},
		"without the line":         {"old\n" + tests, "new\n", "price::tests::ten", "new\nmod tests {\n  fn ten() { assert_eq!(price(10), 30) }\n}\n"},
		"another first line":       {"old\n# ten\nx", "new\n# ten!\nexit", "ten", "new\n# ten\nx"},
		"too large to be read":     {"old\n" + tests, "new\n" + tests + strings.Repeat("# long\n", 200_000), "price::tests::ten", "\n" + strings.TrimPrefix(tests, "#[cfg(test)]\n")},
		"none ran":                 {"old\n" + tests, "new\n" + bent, "price::tests::nine", ""},
		"of a test file":           {"old\nfn one() {}\n", "new\n", "one", ""},
		"all of it":                {"ten is less", "ten is more", "ten is less", "ten is more\nten is less"},
		"an empty line before":     {"old\n\n" + tests, "new\n\n" + tests, "price::tests::ten", ""},
		"gone with all its tests":  {"old\n" + tests, "", "price::tests::ten", ""},
		"without a newline at all": {"a\nten", "b\nten", "ten", ""},
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{"was": c.was, "now": c.now} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		trusted, commits := repository(t, fmt.Sprintf(`mkdir tests src; echo 'fn one() {}' >tests/one.rs; cp %[1]s/was src/price.rs && commit && cp %[1]s/now src/price.rs && { test -s src/price.rs || rm src/price.rs; } && commit`, dir))
		list := "passed " + c.ran + "\n"
		if err := os.WriteFile(filepath.Join(dir, "list"), []byte(list), 0o600); err != nil {
			t.Fatal(err)
		}
		clean := checkout.Clean{Trusted: trusted, Logs: workspace.Folder{Path: dir}}
		run := journal.Run{Base: commits[0], BaseChecks: []journal.CheckEnded{{Name: "test", Passed: true, Tests: &journal.Tests{
			All: journal.Attachment{Path: "list", Digest: fmt.Sprintf("%x", sha256.Sum256([]byte(list)))},
		}}}}
		all, err := clean.Prover(nil).Changes.Differing(t.Context(), run, commits[0], commits[1])
		if err != nil || len(all) != 1 {
			t.Fatalf("%s: %+v, %v", name, all, err)
		}
		if d := all[0]; string(d.Text) != c.want || d.Tests != (c.want != "") {
			t.Errorf("%s: a test %t, tried with %q, want %q", name, d.Tests, d.Text, c.want)
		}
	}
}

// A check can name 50,000 tests for each runner, and a change can touch any number of files: the search stops when told to.
func TestInlineTestsStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if tests, err := checkout.InlineTests(ctx, "two\n", []string{"one"}); !errors.Is(err, context.Canceled) || tests != nil {
		t.Errorf("%q, %v", tests, err)
	}
}

// A change can touch any number of files: git is not started for each of them.
func TestInlineTestsOfManyFiles(t *testing.T) {
	trusted, commits := repository(t, `mkdir src; n=0; while [ $n -lt 150 ]; do n=$((n+1)); echo old $n >src/f$n.js; done; commit; n=0; while [ $n -lt 150 ]; do n=$((n+1)); echo new $n >src/f$n.js; done; commit`)
	counted, calls := counting(t, trusted)
	dir := t.TempDir()
	list := "passed one\n"
	if err := os.WriteFile(filepath.Join(dir, "list"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	clean := checkout.Clean{Trusted: counted, Logs: workspace.Folder{Path: dir}}
	run := journal.Run{Base: commits[0], BaseChecks: []journal.CheckEnded{{Name: "test", Passed: true, Tests: &journal.Tests{
		All: journal.Attachment{Path: "list", Digest: fmt.Sprintf("%x", sha256.Sum256([]byte(list)))},
	}}}}
	if _, err := clean.Prover(nil).Changes.Differing(t.Context(), run, commits[0], commits[1]); err != nil || *calls > 100 {
		t.Errorf("git was started %d times for 150 files (%v)", *calls, err)
	}
}

// counting returns the repository and how often it starts git.
func counting(t *testing.T, trusted *git.Trusted) (*git.Trusted, *int) {
	t.Helper()
	tool, calls := trusted.Git(), 0
	ask := tool.Run
	tool.Run = func(ctx context.Context, c process.Command) (process.Result, error) {
		calls++
		return ask(ctx, c)
	}
	counted, err := tool.Open(trusted.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return counted, &calls
}
