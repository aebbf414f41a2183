package aftercare_test

import (
	"fmt"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/hub/aftercare"
)

// Only the end of a pull request of a branch of ralph's, with its mark, is entered.
func TestWhatIsNotEntered(t *testing.T) {
	const mark = trigger.PullMarker
	for name, c := range map[string]struct{ branch, repo, body string }{
		"of another branch":         {"mia/cart", "acme/shop", mark},
		"without the mark":          {"ralph/issue-1", "acme/shop", "Work"},
		"of a fork":                 {"ralph/issue-1", "mia/shop", mark},
		"the mark is not the first": {"ralph/issue-1", "acme/shop", "Hi\n" + mark},
	} {
		job := aftercare.Job{
			Trigger: trigger.Trigger{Repo: trigger.Repo{Owner: "acme", Name: "shop"}}, Prefix: "ralph/",
			Payload: fmt.Appendf(nil, `{"pull_request": {"number": 1, "body": %q, "head": {"ref": %q, "repo": {"full_name": %q}}}}`,
				c.body, c.branch, c.repo),
		}
		if why, err := job.Do(t.Context()); why != "the pull request is not one of ralph's" || err != nil {
			t.Errorf("%s: %q, %v", name, why, err)
		}
	}
}
