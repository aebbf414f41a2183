package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/plan"
)

const entries = `
## US-001
first

---

## US-002
second
`

const keptLog = "# Log\n\n## Codebase Patterns\n- old pattern\n\n---\n" + entries

// A later iteration cannot remove entries below the rule of the progress log. Above the
// rule, the agent may change everything.
func TestMergeLog(t *testing.T) {
	for name, tt := range map[string]struct {
		kept, proposed, want string
		cut                  bool
	}{
		"appended to":                 {keptLog, keptLog + "\n## US-003\nthird\n", keptLog + "\n## US-003\nthird\n", false},
		"another head, newest first":  {keptLog, "# Log\n---\n## US-003\n" + entries, "# Log\n---\n## US-003\n" + entries, false},
		"gone":                        {keptLog, "", keptLog, true},
		"rewritten":                   {keptLog, "# Log\n---\n## US-001\nfirst, and well\n", keptLog + "\nfirst, and well\n", true},
		"without a line in the first": {"free words\n", "", "", false},
		"no entries so far":           {"# Log\n---\n", "other\n", "other\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			got, cut := plan.MergeLog(tt.kept, tt.proposed)
			if diff := cmp.Diff(tt.want, got); diff != "" || cut != tt.cut {
				t.Errorf("MergeLog: cut = %t, want %t (-want +got):\n%s", cut, tt.cut, diff)
			}
			if again, cut := plan.MergeLog(tt.kept, got); cut || again != got {
				t.Errorf("MergeLog of what it gave is not that: cut = %t\n%s", cut, again)
			}
		})
	}
}
