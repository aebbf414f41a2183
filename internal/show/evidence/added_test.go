package evidence_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A criterion that the agent added is marked.
func TestAnAgentsOwnCriterion(t *testing.T) {
	read := `{"type":"plan_read","claimed":["US-001"],"plan":{"userStories":[{"id":"US-001","title":"A","acceptanceCriteria":["a","anything else"]},{"id":"US-003","title":"C","acceptanceCriteria":["a"]}]}}`
	begun := `{"type":"run_began","plan":{"userStories":[{"id":"US-001","title":"A","acceptanceCriteria":["a"]}]}}`
	e := from(t, append([]string{begun, `{"type":"iteration_began","number":1,"story":"US-001"}`, read}, strings.Split(read, "\n")...)...)
	if diff := cmp.Diff([]string{"anything else"}, e.Stories[0].Added); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
	if e.Stories[1].Added != nil || len(e.Stories[0].Criteria) != 2 {
		t.Errorf("stories = %+v", e.Stories)
	}
}
