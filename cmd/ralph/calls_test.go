package main_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

var digits = regexp.MustCompile(`\d+`)

// mostCalls is what a run of five stories in ten iterations may ask of GitHub's API, without
// edits. A job's token has a thousand an hour, for all jobs of its repository.
const mostCalls = 30

// stumbling has five stories, each of which is wrong at first and right at the
// second try.
func stumbling(s *issueJob) {
	s.t.Helper()
	script := &txtar.Archive{}
	var issue strings.Builder
	for story := 1; story <= 5; story++ {
		fmt.Fprintf(&issue, "- [ ] Add the number %d\n", story)
		test := fmt.Sprintf("[ \"$(sh number%d.sh)\" = %d ]\n", story, story)
		for try := range 2 {
			at := fmt.Sprintf("%d/", 2*story-1+try)
			script.Files = append(script.Files,
				txtar.File{Name: at + "write/tests/number" + strconv.Itoa(story) + ".sh", Data: []byte(test)},
				txtar.File{Name: at + fmt.Sprintf("write/number%d.sh", story), Data: fmt.Appendf(nil, "echo %d\n", story*try)},
				txtar.File{Name: at + "claim", Data: fmt.Appendf(nil, "US-%03d: number%d.sh; tests/number%d.sh\n", story, story, story)},
				txtar.File{Name: at + "commit", Data: fmt.Appendf(nil, "feat: [US-%03d] - Number %d\n", story, story)},
			)
		}
	}
	s.EditIssue(shop, s.issue, func(i *githubtest.Issue) { i.Body = issue.String() })
	if err := write(s.path("script.txtar"), txtar.Format(script)); err != nil {
		s.t.Fatal(err)
	}
}

// asked returns how often each call of the API was made; its numbers are left out.
func (s *issueJob) asked() map[string]int {
	asked := map[string]int{}
	for _, call := range s.Requests() {
		if !strings.Contains(call.Path, ".git/") {
			asked[call.Method+" "+strings.Trim(digits.ReplaceAllString(call.Path, "N"), "/")]++
		}
	}
	return asked
}

// A long run asks little of GitHub.
func TestALongRunAsksLittle(t *testing.T) {
	t.Parallel()
	s := newIssueJob(t, stumbling)
	within := []string{"INPUT_MAX-COST-PER-DAY=25", "SET_github.maxRuns=3", "SET_github.maxOpenPrs=5"} // as workflows have it
	if code := s.end(s.begin(within...)); code != 0 {
		t.Errorf("exit %d, want 0", code)
	}
	run := s.run()
	if run.Stop == nil || run.Stop.Reason != policy.AllStoriesPassed || len(run.Iterations) != 10 {
		t.Fatalf("%d iterations, and then %+v, want 10 and all stories", len(run.Iterations), run.Stop)
	}
	asked := s.asked()
	calls := 0
	for call, n := range asked {
		if !strings.HasPrefix(call, "PATCH ") { // an edit waits for the one before
			calls += n
		}
	}
	if calls > mostCalls {
		t.Errorf("%d calls, want %d at most: %v", calls, mostCalls, asked)
	}
	t.Logf("%d calls: %v", calls, asked)
}
