package main_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/run/publish"
	"github.com/ralph-loop/ralph/internal/show/view"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

var digits = regexp.MustCompile(`\d+`)

// mostCalls is what a run of five stories in ten iterations may ask of GitHub's
// API. A job's token has a thousand an hour, for all jobs of its repository.
const mostCalls = 64 // one reads the settings that the workflow names, and one its events

// stumbling has five stories, each of which is wrong at first and right at the
// second try.
func stumbling(s *scene) {
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
func (s *scene) asked() map[string]int {
	asked := map[string]int{}
	for _, call := range s.Requests() {
		if !strings.Contains(call.Path, ".git/") {
			asked[call.Method+" "+strings.Trim(digits.ReplaceAllString(call.Path, "N"), "/")]++
		}
	}
	return asked
}

// editor counts what would be sent of the boards it is shown.
type editor struct {
	last            view.Texts
	comments, pulls int
}

func (e *editor) Show(_ context.Context, board view.Texts) error {
	if board.Comment != e.last.Comment {
		e.comments++
	}
	if board.Pull.Number != 0 && board.Pull != e.last.Pull {
		e.pulls++
	}
	e.last = board
	return nil
}

// pace returns how long it takes in the world until an event comes about.
func pace(event journal.Event) time.Duration {
	switch event.(type) { //nolint:gochecksumtype // the others take no time
	case journal.AgentEnded:
		return 3 * time.Minute
	case journal.CheckEnded, journal.StoryReviewed:
		return 40 * time.Second
	case journal.SetupEnded:
		return 20 * time.Second
	}
	return time.Second
}

// retold has a run be shown once more, at the pace of the world.
func retold(t *testing.T, entries []journal.Entry) editor {
	t.Helper()
	var screen editor
	synctest.Test(t, func(t *testing.T) {
		p := &publish.Publisher{Screens: []publish.Screen{screen.Show}, Interval: 15 * time.Second, Failed: func(err error) { t.Error(err) }}
		p.Start(t.Context())
		began, run := time.Now(), journal.Run{}
		for _, entry := range entries {
			<-time.After(pace(entry.Event))
			entry.At = entries[0].At.Add(time.Since(began))
			run = journal.Fold(run, entry)
			p.Update(run)
			synctest.Wait()
		}
		p.Close()
	})
	return screen
}

// A long run asks little of GitHub, even where its steps take so long that each
// is shown by itself.
func TestALongRunAsksLittle(t *testing.T) {
	t.Parallel()
	s := newScene(t, stumbling)
	within := []string{"INPUT_MAX-COST-PER-DAY=25", "SET_github.maxRuns=3", "SET_github.maxOpenPrs=5"} // as workflows have it
	if code := s.end(s.begin(within...)); code != 0 {
		t.Errorf("exit %d, want 0", code)
	}
	run := s.run()
	if run.Stop == nil || run.Stop.Reason != policy.AllStoriesPassed || len(run.Iterations) != 10 {
		t.Fatalf("%d iterations, and then %+v, want 10 and all stories", len(run.Iterations), run.Stop)
	}
	screen := retold(t, s.entries())
	asked := s.asked()
	asked["PATCH repos/octo/greeter/issues/comments/N"] = screen.comments - 1 // one was the first
	asked["PATCH repos/octo/greeter/pulls/N"] = screen.pulls
	calls := 0
	for _, n := range asked {
		calls += n
	}
	if calls > mostCalls {
		t.Errorf("%d calls, want %d at most: %v", calls, mostCalls, asked)
	}
	t.Logf("%d calls: %v", calls, asked)
}
