package main_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

// patience is how long a test waits for what it knows must come.
const patience = time.Minute

// issueJob is a simulated GitHub with an issue that was labelled, and the job that this
// started.
type issueJob struct {
	*gitHub
	t     *testing.T
	issue int
	env   []string
}

func newIssueJob(t *testing.T, change ...func(*issueJob)) *issueJob {
	t.Helper()
	hub, err := newGitHub(memory(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := hub.finished(); err != nil {
			t.Error(err)
		}
	})
	s := &issueJob{gitHub: hub, t: t}
	if s.issue, err = hub.publishProject(); err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(s)
	}
	event, err := hub.label(s.issue, maintainer, "ralph")
	if err != nil {
		t.Fatal(err)
	}
	s.env = append(hub.inputs(), event...)
	// So that each event of a run comes about.
	s.env = append(s.env, "INPUT_SETUP=true", `SET_review.agent=printf '{"points":[]}'`)
	s.env = append(s.env, "PATH="+os.Getenv("PATH"), "HOME="+hub.path("runner"), "LANG=C.UTF-8", quickExit, unconfined)
	return s
}

// life is one run of the program. Its output goes to a file, so that the test
// does not wait for processes that hold a pipe.
type life struct {
	*exec.Cmd
	log string
}

func (s *issueJob) begin(env ...string) *life {
	s.t.Helper()
	log, err := os.CreateTemp(s.dir, "log-*")
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	l := &life{Cmd: exec.CommandContext(s.t.Context(), "ralph", "action"), log: log.Name()}
	l.Env, l.Stdout, l.Stderr = slices.Concat(s.env, env), log, log
	if err := l.Start(); err != nil {
		s.t.Fatal(err)
	}
	return l
}

// end waits for the program, and for everybody it started.
func (s *issueJob) end(l *life) (code int) {
	s.t.Helper()
	_ = l.Wait()
	s.t.Cleanup(func() {
		if said, err := os.ReadFile(l.log); err == nil && s.t.Failed() {
			s.t.Logf("%s said:\n%s", filepath.Base(l.log), said)
		}
	})
	s.noneLeft()
	return l.ProcessState.ExitCode()
}

// noneLeft waits until no process of the run is left, by the job's folder and
// environment.
func (s *issueJob) noneLeft() {
	s.t.Helper()
	s.until("processes of the run end", func() bool { return len(living(s.dir)) == 0 })
}

func (s *issueJob) until(what string, is func() bool) {
	s.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-deadline.C:
			s.t.Fatalf("waited in vain until %s; living: %q", what, living(s.dir))
		}
	}
}

// living returns the processes that have to do with dir.
func living(dir string) []string {
	var found []string
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range all {
		if pid, _ := strconv.Atoi(filepath.Base(proc)); pid == os.Getpid() {
			continue
		}
		cwd, _ := os.Readlink(proc + "/cwd")
		argv, _ := os.ReadFile(proc + "/cmdline")
		env, _ := os.ReadFile(proc + "/environ")
		if strings.HasPrefix(cwd, dir) || strings.Contains(string(argv), dir) || strings.Contains(string(env), dir) {
			found = append(found, filepath.Base(proc)+" "+strings.ReplaceAll(string(argv), "\x00", " "))
		}
	}
	return found
}

// entries returns what all journals of the job hold, each of which must be sound.
func (s *issueJob) entries() []journal.Entry {
	s.t.Helper()
	var all []journal.Entry
	for _, path := range s.journals() {
		data, err := os.ReadFile(path)
		if err != nil {
			s.t.Fatal(err)
		}
		entries, sound, err := journal.Replay(data)
		if err != nil || sound != int64(len(data)) {
			s.t.Fatalf("%s is sound for %d of %d bytes: %v", path, sound, len(data), err)
		}
		all = append(all, entries...)
	}
	return all
}

// run returns the newest run.
func (s *issueJob) run() journal.Run {
	s.t.Helper()
	entries := s.entries()
	newest := 0
	for i, entry := range entries {
		if entry.Seq == 1 {
			newest = i
		}
	}
	return journal.Fold(journal.Run{}, entries[newest:]...)
}

// write writes a file, with the folders above it.
func (s *issueJob) write(path, text string) {
	s.t.Helper()
	if err := write(path, []byte(text)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *issueJob) must(args ...string) string {
	s.t.Helper()
	out, err := s.git(args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// settled is what must be so once a run has ended well, no matter what came between.
func (s *issueJob) settled() {
	t := s.t
	t.Helper()
	run := s.run()
	if run.Stop == nil || run.Stop.Reason != policy.AllStoriesPassed || run.PassedStories() != 3 {
		t.Errorf("the run ended as %+v with %d stories passed, want 3", run.Stop, run.PassedStories())
	}
	pulls := s.Pulls(shop)
	if len(pulls) != 1 || pulls[0].Draft || pulls[0].HeadSHA != run.Head || !strings.Contains(pulls[0].Body, "Closes #1") {
		t.Errorf("pull requests %+v, want one that is ready, at %s", pulls, run.Head)
	}
	if all, ours := s.Comments(shop, s.issue), s.progress(s.issue); len(all) != 1 || len(ours) != 1 || !strings.Contains(ours[0].Body, "Ready for review") {
		t.Errorf("comments %+v, want one that says done", all)
	}
	if head := s.must("rev-parse", run.Branch); head != run.Head {
		t.Errorf("the branch stands at %s, the journal at %s", head, run.Head)
	}
	if diff := cmp.Diff(wantFiles, s.files(run.Branch)); diff != "" {
		t.Errorf("the branch's files (-want +got):\n%s", diff)
	}
	issue, _ := s.Issue(shop, s.issue)
	if !slices.Equal(issue.Labels, []string{"ralph:review"}) {
		t.Errorf("labels %v, want that it is for review and nothing else", issue.Labels)
	}
	said := map[string]int{}
	for _, reaction := range issue.Reactions {
		said[reaction.Content]++
	}
	if said["eyes"] != 1 || said["rocket"] != 1 {
		t.Errorf("reactions %v, want one of each", said)
	}
}

// wantFiles is what the demo's agent leaves behind, by what its tests print.
var wantFiles = []string{"README.md", "check.sh", "greet.sh", "tests/empty.sh", "tests/german.sh", "tests/hello.sh", "tests/name.sh"}

func (s *issueJob) files(branch string) []string {
	s.t.Helper()
	return strings.Split(s.must("ls-tree", "-r", "--name-only", branch), "\n")
}

// made counts the calls that made something.
func (s *issueJob) made(path string) int {
	n := 0
	for _, call := range s.Requests() {
		if call.Method == http.MethodPost && call.Path == path && call.Status == http.StatusCreated {
			n++
		}
	}
	return n
}

// messages returns the subjects on the branch, the oldest first.
func (s *issueJob) messages() []string {
	s.t.Helper()
	return strings.Split(s.must("log", "--reverse", "--format=%s", "main.."+s.run().Branch), "\n")
}
