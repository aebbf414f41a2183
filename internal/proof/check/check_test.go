package check_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/redact"
	"github.com/ralph-loop/ralph/internal/proof/check"
)

// lab runs checks in a folder and keeps their logs in another.
type lab struct {
	tree, logs string
	hand       check.Hand
}

func newLab(t *testing.T) lab {
	t.Helper()
	l := lab{tree: t.TempDir(), logs: t.TempDir()}
	l.hand = check.Hand{
		Run:  (&process.Runner{}).Run,
		Env:  []string{"PATH=" + os.Getenv("PATH"), "GREETING=hello"},
		Log:  func(name string) (io.WriteCloser, error) { return os.Create(filepath.Join(l.logs, name)) },
		Veil: redact.Values().Writer,
	}
	return l
}

// do runs commands as the checks of an iteration.
func (l lab) do(t *testing.T, checks ...policy.Check) []journal.CheckEnded {
	t.Helper()
	var ended []journal.CheckEnded
	job := check.Job{Where: journal.AtWork, Dir: l.tree, Commit: "c1", Label: "3", Checks: checks}
	err := l.hand.Do(t.Context(), job, func(event journal.Event) { ended = append(ended, event.(journal.CheckEnded)) })
	if err != nil {
		t.Fatal(err)
	}
	return ended
}

func (l lab) log(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(l.logs, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestHowACommandEndsIsHowTheCheckEnds(t *testing.T) {
	l := newLab(t)
	if err := os.WriteFile(filepath.Join(l.tree, "plain"), []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		command string
		want    journal.CheckEnded
	}{
		{"true", journal.CheckEnded{Passed: true}},
		{"exit 0; false", journal.CheckEnded{Passed: true}},
		{"false", journal.CheckEnded{Exit: 1}},
		{"exit 3", journal.CheckEnded{Exit: 3}},
		{"kill -9 $$", journal.CheckEnded{Exit: 137}},
		{"./plain", journal.CheckEnded{Exit: 126, CannotRun: true}},
		{"no-such-program-here", journal.CheckEnded{Exit: 127, CannotRun: true, Missing: "no-such-program-here"}},
		{"CI=1 no-such-program-here --all", journal.CheckEnded{Exit: 127, CannotRun: true, Missing: "no-such-program-here"}},
		{"env CI=1 no-such-program-here", journal.CheckEnded{Exit: 127, CannotRun: true, Missing: "no-such-program-here"}},
		{"true && no-such-program-here >all 2>&1", journal.CheckEnded{Exit: 127, CannotRun: true, Missing: "no-such-program-here"}},
		{"false || no-such-program-here", journal.CheckEnded{Exit: 127, CannotRun: true}},
		{"./no-such-file-yet", journal.CheckEnded{Exit: 127, NoFile: "./no-such-file-yet"}},
		{"sh plain; exit 5", journal.CheckEnded{Exit: 5}},
		{"sh no-such-file-yet; exit 5", journal.CheckEnded{Exit: 5, NoFile: "no-such-file-yet"}},
		{"sh -c no-such-program-here", journal.CheckEnded{Exit: 127, CannotRun: true}},
	} {
		want := test.want
		want.Where, want.Commit, want.Name, want.Command = journal.AtWork, "c1", "the check", test.command
		got := l.do(t, policy.Check{Name: "the check", Command: test.command})
		ignore := cmpopts.IgnoreFields(journal.CheckEnded{}, "Log", "Digest", "Excerpt", "TookMS")
		if diff := cmp.Diff([]journal.CheckEnded{want}, got, ignore); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.command, diff)
		}
	}
}

// A check that ran out of time failed, no matter what it exits with when it is asked
// to end.
func TestOutOfTime(t *testing.T) {
	l := newLab(t)
	command := `trap 'exit 0' TERM; sleep 60 & wait`
	got := l.do(t, policy.Check{Name: "slow", Command: command, Timeout: policy.Duration(300 * time.Millisecond)})[0]
	if !got.TimedOut || got.Passed || got.CannotRun {
		t.Errorf("ended %+v, want timed out and not passed", got)
	}
}

func TestARedCheckKeepsNoOtherFromRunning(t *testing.T) {
	l := newLab(t)
	got := l.do(t, policy.Check{Name: "a", Command: "exit 1"}, policy.Check{Name: "b", Command: "pwd > here"})
	if len(got) != 2 || got[0].Passed || !got[1].Passed {
		t.Fatalf("ended %+v, want a red and b green", got)
	}
	if _, err := os.Stat(filepath.Join(l.tree, "here")); err != nil {
		t.Errorf("b did not run in the tree: %v", err)
	}
}

// People hear of a check before it runs, not when it has run.
func TestBegan(t *testing.T) {
	l := newLab(t)
	var heard []string
	l.hand.Began = func(kind string, c policy.Check) {
		_, err := os.Stat(filepath.Join(l.tree, c.Name))
		heard = append(heard, fmt.Sprint(kind, " ", c.Name, " ran: ", err == nil))
	}
	l.do(t, policy.Check{Name: "a", Command: "touch a; exit 1"}, policy.Check{Name: "b", Command: "touch b"})
	job := check.Job{Where: journal.AtHead, Dir: l.tree, Commit: "c1", Label: "3"}
	if ready, err := l.hand.Setup(t.Context(), job, []policy.Check{{Name: "c", Command: "touch c"}}, func(journal.Event) {}); !ready || err != nil {
		t.Fatal(ready, err)
	}
	if diff := cmp.Diff([]string{"check a ran: false", "check b ran: false", "setup c ran: false"}, heard); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
}

// The log holds everything, the excerpt its end, the digest proves the log.
func TestOutput(t *testing.T) {
	l := newLab(t)
	got := l.do(t, policy.Check{Name: "long", Command: `i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo "line $i"; done; echo oops >&2; exit 1`})[0]
	whole := l.log(t, got.Log)
	if !strings.HasPrefix(whole, "line 1\n") || !strings.HasSuffix(whole, "line 2000\noops\n") {
		t.Errorf("the log is not whole: %.20q … %q", whole, whole[max(0, len(whole)-20):])
	}
	if digest := sha256.Sum256([]byte(whole)); got.Digest != hex.EncodeToString(digest[:]) {
		t.Errorf("digest %s is not that of the log", got.Digest)
	}
	if !strings.HasSuffix(got.Excerpt, "line 2000\noops\n") || strings.Contains(got.Excerpt, "line 1\n") || len(got.Excerpt) > 5000 {
		t.Errorf("excerpt of %d bytes, want the last 4000 or so: %.80q …", len(got.Excerpt), got.Excerpt)
	}
}

// A long output begins with the first failure that it states, and its end with a whole line.
func TestExcerptStatesTheFailure(t *testing.T) {
	l := newLab(t)
	got := l.do(t, policy.Check{Name: "long", Command: `echo start; echo "AssertionError: 1 == 2"; echo "  expected 2"
		i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo "line $i"; done; exit 1`})[0].Excerpt
	if !strings.HasPrefix(got, "AssertionError: 1 == 2\n  expected 2\nline 1\n") || !strings.Contains(got, "\n[ralph left out lines here]\nline 1") {
		t.Errorf("excerpt = %.200q", got)
	}
	if !strings.HasSuffix(got, "\nline 2000\n") || len(got) > 4100 {
		t.Errorf("excerpt of %d bytes ends with %q", len(got), got[len(got)-20:])
	}
}

// Where a policy asks for it, the excerpt is the beginning, or shorter.
func TestExcerpts(t *testing.T) {
	l := newLab(t)
	for _, test := range []struct {
		asked policy.Excerpt
		want  string
	}{
		{policy.Excerpt{Chars: 3}, "dé\n"},
		{policy.Excerpt{Chars: 3, Head: true}, "abc... [truncated]"},
		{policy.Excerpt{Chars: 5, Head: true}, "abcdé... [truncated]"},
		{policy.Excerpt{Chars: 100, Head: true}, "abcdé\n"},
		{policy.Excerpt{Head: true}, "abcdé\n"},
	} {
		var got string
		job := check.Job{Dir: l.tree, Checks: policy.NewChecks([]string{"echo abcdé"}, 0), Excerpt: test.asked}
		if err := l.hand.Do(t.Context(), job, func(event journal.Event) { got = event.(journal.CheckEnded).Excerpt }); err != nil {
			t.Fatal(err)
		}
		if got != test.want {
			t.Errorf("excerpt %+v = %q, want %q", test.asked, got, test.want)
		}
	}
}

func TestEnvironmentIsWhatWasGiven(t *testing.T) {
	t.Setenv("RALPH_CHECK_TEST_SECRET", "s3cret")
	l := newLab(t)
	got := l.do(t, policy.Check{Name: "env", Command: "env"})[0]
	if !strings.Contains(got.Excerpt, "GREETING=hello\n") || strings.Contains(got.Excerpt, "s3cret") {
		t.Errorf("the environment of a check is\n%s", got.Excerpt)
	}
}

// No two checks of a set share a log, however alike their commands look.
func TestLogs(t *testing.T) {
	l := newLab(t)
	commands := []string{"echo 1", "echo  1", "echo-1 2>&1 || echo third", "echo 1 2", "echo_1_2", ": ;", "-- ; :"}
	var checks []policy.Check
	for _, command := range commands {
		checks = append(checks, policy.Check{Name: command, Command: command})
	}
	var names []string
	for _, ended := range l.do(t, checks...) {
		names = append(names, ended.Log)
		if digest := sha256.Sum256([]byte(l.log(t, ended.Log))); ended.Digest != hex.EncodeToString(digest[:]) {
			t.Errorf("%s: another check wrote into %s", ended.Command, ended.Log)
		}
	}
	want := []string{
		"guardrail_3_echo_1.log", "guardrail_3_echo_1_2.log", "guardrail_3_echo_1_2_1_echo_third.log",
		"guardrail_3_echo_1_2_2.log", "guardrail_3_echo_1_2_3.log", "guardrail_3_check.log", "guardrail_3_check_2.log",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("logs (-want +got):\n%s", diff)
	}
}

func TestSlug(t *testing.T) {
	for command, want := range map[string]string{
		"./mvnw clean install -T 2C":            "mvnw_clean_install_T_2C",
		"go test ./...":                         "go_test",
		"make   test":                           "make_test",
		"npm run -s lint -- --fix":              "npm_run_s_lint_fix",
		"../../etc/passwd":                      "etc_passwd",
		"grüße":                                 "gr_e",
		"":                                      "check",
		"…":                                     "check",
		strings.Repeat("a", 60):                 strings.Repeat("a", 50),
		strings.Repeat("a", 49) + " b and more": strings.Repeat("a", 49),
		"line\nbreak":                           "line_break",
	} {
		if got := check.Slug(command); got != want {
			t.Errorf("Slug(%q) = %q, want %q", command, got, want)
		}
	}
}

func TestWhatBreaksIsAnErrorAndNoResult(t *testing.T) {
	full := errors.New("no space left")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx    context.Context
		change func(*check.Hand)
		want   error
	}{
		"no log":          {t.Context(), func(h *check.Hand) { h.Log = func(string) (io.WriteCloser, error) { return nil, full } }, full},
		"log that fills":  {t.Context(), func(h *check.Hand) { h.Log = func(string) (io.WriteCloser, error) { return disk{write: full}, nil } }, full},
		"log not safe":    {t.Context(), func(h *check.Hand) { h.Log = func(string) (io.WriteCloser, error) { return disk{closed: full}, nil } }, full},
		"context at end":  {cancelled, func(*check.Hand) {}, context.Canceled},
		"no shell to run": {t.Context(), func(h *check.Hand) { h.Env = []string{"PATH=" + t.TempDir()} }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			test.change(&l.hand)
			var seen []journal.Event
			job := check.Job{Dir: l.tree, Checks: policy.NewChecks([]string{"echo hello"}, 0)}
			err := l.hand.Do(test.ctx, job, func(event journal.Event) { seen = append(seen, event) })
			if err == nil || test.want != nil && !errors.Is(err, test.want) || len(seen) > 0 {
				t.Errorf("Do = %v with events %v, want %v and none", err, seen, test.want)
			}
		})
	}
}

type disk struct{ write, closed error }

func (d disk) Write(p []byte) (int, error) { return len(p), d.write }
func (d disk) Close() error                { return d.closed }

// What a check does not get is a terminal, an input or a second run.
func TestAShellOfItsOwn(t *testing.T) {
	var commands []process.Command
	l := newLab(t)
	run := l.hand.Run
	l.hand.Run = func(ctx context.Context, c process.Command) (process.Result, error) {
		commands = append(commands, c)
		return run(ctx, c)
	}
	l.do(t, policy.Check{Name: "a", Command: "cat; test ! -t 0"})
	if len(commands) != 1 || !slices.Equal(commands[0].Argv, []string{"sh", "-c", "cat; test ! -t 0"}) || commands[0].Stdin != nil {
		t.Errorf("ran %+v", commands)
	}
}

// What is hidden is not in the log, whose digest is of what it holds; a check's
// end goes by what it printed.
func TestLogsAreVeiled(t *testing.T) {
	l := newLab(t)
	l.hand.Veil = func(to io.Writer) io.WriteCloser { return redact.New("a-very-secret-word").Writer(to) }
	ended := l.do(t, policy.Check{Name: "leak", Command: "echo a-very-secret-word"})[0]
	log := l.log(t, "guardrail_3_echo_a_very_secret_word.log")
	sum := sha256.Sum256([]byte(log))
	if strings.Contains(log, "secret-word") || !strings.Contains(log, "***") || ended.Digest != hex.EncodeToString(sum[:]) {
		t.Errorf("the log holds %q, digest %s", log, ended.Digest)
	}
	cut := l.do(t, policy.Check{Name: "leak", Command: "printf 'a-very-secret-word%03990d' 0"})[0]
	if strings.Contains(cut.Excerpt, "word") || !strings.HasPrefix(cut.Excerpt, "***0") {
		t.Errorf("of a secret that stands where the excerpt begins it shows %.20q", cut.Excerpt)
	}
}

// A check that runs packages of package.json lacks them at the base, if nothing has installed them there.
func TestPackagesThatAreNotInstalled(t *testing.T) {
	l := newLab(t)
	bin := t.TempDir()
	for name, text := range map[string]string{filepath.Join(bin, "npm"): "#!/bin/sh\nexit 127\n", filepath.Join(l.tree, "package.json"): "{}"} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	l.hand.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	for command, want := range map[string]string{"npm test": journal.NodeModules, "exit 127": "", "npm test || exit 127": ""} {
		var got []journal.CheckEnded
		job := check.Job{Where: journal.AtBase, Dir: l.tree, Label: "base", Checks: []policy.Check{{Name: "test", Command: command}}}
		err := l.hand.Do(t.Context(), job, func(e journal.Event) { got = append(got, e.(journal.CheckEnded)) })
		if err != nil || len(got) != 1 || got[0].Missing != want {
			t.Errorf("%s: %+v, %v, want that %q is missing", command, got, err, want)
		}
	}
}
