package main_test

import (
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// full lets no process of the job write more to a file than the journal has
// now, and a few bytes: to them the disk is full.
func (s *issueJob) full() error {
	info, err := os.Stat(s.journals()[0])
	if err != nil {
		return err
	}
	size := uint64(info.Size()) + 10
	limit := unix.Rlimit{Cur: size, Max: size}
	for _, process := range living(s.dir) {
		pid, _, _ := strings.Cut(process, " ")
		number, err := strconv.Atoi(pid)
		if err != nil {
			return err
		}
		if err := unix.Prlimit(number, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
			return err
		}
	}
	return nil
}

// A run that cannot write its journal any more ends, and the people on the
// issue are told so: an agent that is at work for ever would be a lie.
func TestARunThatBreaksTellsTheIssue(t *testing.T) {
	t.Parallel()
	s := newIssueJob(t)
	broke := make(chan error, 1)
	s.visit(func(r *http.Request) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/pulls") {
			broke <- s.full()
		}
	})
	if code := s.end(s.begin()); code != 2 {
		t.Errorf("exit %d, want 2", code)
	}
	if err := <-broke; err != nil {
		t.Fatal(err)
	}
	if run := s.run(); run.Stop != nil {
		t.Fatalf("the journal says %+v, want no end", run.Stop)
	}
	s.finish("nothing to finish") // it was not killed: why it broke stays
	comments := s.Comments(shop, s.issue)
	if len(comments) != 1 {
		t.Fatalf("%d comments, want one", len(comments))
	}
	for _, want := range []string{"Failed, something broke: ", "file too large", "read the job's log", "saved in .ralph/runs/", "/work of the job", "`/ralph resume`"} {
		if !strings.Contains(comments[0].Body, want) {
			t.Errorf("the comment does not say %q:\n%s", want, comments[0].Body)
		}
	}
	if strings.Contains(comments[0].Body, s.dir) {
		t.Errorf("the comment tells where the job's machine keeps its files:\n%s", comments[0].Body)
	}
}
