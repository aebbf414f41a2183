package check_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/proof/check"
	"github.com/ralph-loop/ralph/internal/proof/results"
	"github.com/ralph-loop/ralph/internal/proof/suite"
)

func sum(text string) string {
	digest := sha256.Sum256([]byte(text))
	return hex.EncodeToString(digest[:])
}

// report returns a command that writes a JUnit report of these test cases, as XML.
func report(cases string) string {
	return fmt.Sprintf(`echo '<testsuite name="s">%s</testsuite>' >"$RALPH_REPORTS/a.xml"; `, cases)
}

const (
	passed = `<testcase classname="p" name="a"/>`
	failed = `<testcase classname="p" name="c"><failure/></testcase>`
	broken = `<testcase classname="p" name="q"><error message="collection failure"/></testcase>`
)

// jobOf returns checks on a clean checkout, whose reports are read from a folder.
func jobOf(t *testing.T, l lab, checks ...policy.Check) check.Job {
	t.Helper()
	folder := t.TempDir()
	return check.Job{
		Where: journal.AtHead, Dir: l.tree, Commit: "c1", Label: "3", Checks: checks,
		Reports: func(string) (string, func() (results.Results, error), error) {
			return folder, func() (found results.Results, err error) {
				files, err := filepath.Glob(folder + "/*.xml")
				for _, file := range files {
					data, failed := os.ReadFile(file)
					err = errors.Join(err, failed, found.AddJUnit(data))
				}
				return found, err
			}, nil
		},
	}
}

// only returns the result of the only check of a job.
func (l lab) only(t *testing.T, job check.Job) journal.CheckEnded {
	t.Helper()
	var ended []journal.CheckEnded
	if err := l.hand.Do(t.Context(), job, func(event journal.Event) { ended = append(ended, event.(journal.CheckEnded)) }); err != nil {
		t.Fatal(err)
	}
	if len(ended) != 1 {
		t.Fatalf("%d checks ended, want 1", len(ended))
	}
	return ended[0]
}

// What a check reports about tests is on record, and all of it in a file.
func TestReportedTests(t *testing.T) {
	l := newLab(t)
	l.hand.Folder = "kept"
	got := l.only(t, jobOf(t, l, policy.Check{Name: "test", Command: report(passed+failed+broken) + "exit 1"}))
	all := "passed p.a\nfailed p.c\nbroken p.q\n"
	want := &journal.Tests{
		Passed: 1, Failed: 1, Red: []string{"p.c"}, Broken: []string{"p.q"},
		All: journal.Attachment{Path: strings.TrimSuffix(got.Log, ".log") + ".tests", Digest: sum(all), Size: int64(len(all))},
	}
	if diff := cmp.Diff(want, got.Tests); diff != "" {
		t.Errorf("tests (-want +got):\n%s", diff)
	}
	kept := l.log(t, strings.TrimPrefix(got.Tests.All.Path, "kept/"))
	if diff := cmp.Diff(all, kept); diff != "" {
		t.Errorf("all tests (-want +got):\n%s", diff)
	}
}

// goTest is a program that stands for go: it prints its arguments, and what `go test -json` prints.
const goTest = `#!/bin/sh
echo "args $*"
cat <<'end'
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: want 1\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"fail","Package":"p"}
end
exit 1
`

// The results of go test are read from its output, in the agent's tree, too. Logs have the text.
func TestGoTest(t *testing.T) {
	l := newLab(t)
	programs := t.TempDir()
	if err := os.WriteFile(programs+"/go", []byte(goTest), 0o700); err != nil {
		t.Fatal(err)
	}
	l.hand.Env = []string{"PATH=" + programs + ":" + os.Getenv("PATH")}
	got := l.do(t, policy.Check{Name: "test", Command: "go test ./..."})[0]
	if got.Passed || got.Tests == nil || !cmp.Equal(got.Tests.Red, []string{"p.TestA"}) || len(got.Tests.Broken) != 0 {
		t.Errorf("ended %+v with tests %+v", got, got.Tests)
	}
	if want := "args test -json ./...\n    a_test.go:3: want 1\nFAIL\n"; l.log(t, path.Base(got.Log)) != want || got.Excerpt != want {
		t.Errorf("log %q, excerpt %q, want %q", l.log(t, path.Base(got.Log)), got.Excerpt, want)
	}
}

// A check that can run only some test files runs these.
func TestSelectedFiles(t *testing.T) {
	l := newLab(t)
	job := jobOf(t, l, policy.Check{Name: "test", Command: `echo "$RALPH_TESTS"`})
	job.Call = func(command string) (suite.Call, error) {
		return suite.CallOf(command, suite.Source{Reads: func(string) bool { return true }}), nil
	}
	for want, files := range map[string]map[string][]string{"a_test.sh b_test.sh\n": {"test": {"a_test.sh", "b_test.sh"}}, "\n": {"lint": {"a_test.sh"}}} {
		job.Files = files
		if got := l.only(t, job); got.Excerpt != want {
			t.Errorf("of %v it ran %q, want %q", files, got.Excerpt, want)
		}
	}
}

// A report changes nothing about how a check ended.
func TestExitCodeDecides(t *testing.T) {
	l := newLab(t)
	for command, want := range map[string]bool{report(passed) + "exit 1": false, report(failed): true} {
		if got := l.only(t, jobOf(t, l, policy.Check{Name: "test", Command: command})); got.Passed != want || got.Tests == nil {
			t.Errorf("%s: passed %v with %+v, want %v", command, got.Passed, got.Tests, want)
		}
	}
	if got := l.only(t, jobOf(t, l, policy.Check{Name: "test", Command: "echo ok 1 - a; exit 1"})); got.Tests != nil {
		t.Errorf("tests %+v without a report", got.Tests)
	}
}

// The journal holds 200 names, and says that there are more.
func TestManyNames(t *testing.T) {
	l := newLab(t)
	var cases strings.Builder
	for i := range 300 {
		fmt.Fprintf(&cases, `<testcase classname="p" name="t%d"><failure/></testcase>`, i)
	}
	got := l.only(t, jobOf(t, l, policy.Check{Name: "test", Command: report(cases.String()) + "exit 1"})).Tests
	if got == nil || len(got.Red) != 200 || len(got.Broken) != 0 || !got.Cut || got.Failed != 300 {
		t.Errorf("tests %+v", got)
	}
}

// Only what is asked for is run, and the logs of a second time lie beside those of the first.
func TestOnly(t *testing.T) {
	l := newLab(t)
	checks := []policy.Check{{Name: "lint", Command: "true"}, {Name: "test", Command: "echo 1; " + report(passed)}}
	for second, want := range map[bool]string{false: "", true: "-again"} {
		job := jobOf(t, l, checks...)
		job.Only, job.Second = func(name string) bool { return name == "test" }, second
		got := l.only(t, job)
		log := strings.TrimSuffix(path.Base(got.Log), ".log")
		if got.Name != "test" || !strings.HasPrefix(log, "guardrail_3_echo_1") || strings.HasSuffix(log, "-again") != second || path.Base(got.Tests.All.Path) != log+".tests" {
			t.Errorf("second %v: ended %+v, want a log that ends with %q", second, got, want)
		}
	}
}

// A disk that is full keeps no tests, and no check counts that is not kept.
func TestTestsThatCannotBeKept(t *testing.T) {
	l := newLab(t)
	full, create := errors.New("no space left"), l.hand.Log
	l.hand.Log = func(name string) (io.WriteCloser, error) {
		if strings.HasSuffix(name, ".tests") {
			return nil, full
		}
		return create(name)
	}
	err := l.hand.Do(t.Context(), jobOf(t, l, policy.Check{Name: "test", Command: report(passed)}), func(journal.Event) { t.Error("an event") })
	if !errors.Is(err, full) {
		t.Errorf("Do = %v, want %v", err, full)
	}
}
