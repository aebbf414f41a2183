package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/plan"
)

const keptLog = `# Log

## Codebase Patterns
- old pattern

---

## US-001
first

---

## US-002
second
`

// A later iteration cannot remove entries below the rule of the progress log. Above the
// rule, the agent may change everything.
func TestMergeLog(t *testing.T) {
	for name, tt := range map[string]struct {
		kept, proposed, want string
		cut                  bool
	}{
		"appended to":                   {keptLog, keptLog + "\n## US-003\nthird\n", keptLog + "\n## US-003\nthird\n", false},
		"curated":                       {keptLog, "# Log\n- new\n---\n\n## US-001\nfirst\n\n---\n\n## US-002\nsecond\nmore", "# Log\n- new\n---\n\n## US-001\nfirst\n\n---\n\n## US-002\nsecond\nmore", false},
		"newest first":                  {keptLog, "# Log\n---\n## US-003\n\n## US-001\nfirst\n\n---\n\n## US-002\nsecond", "# Log\n---\n## US-003\n\n## US-001\nfirst\n\n---\n\n## US-002\nsecond", false},
		"gone":                          {keptLog, "", keptLog, true},
		"cut":                           {keptLog, "# Log\n- new\n---\n## US-002\nsecond\n", "# Log\n- new\n---\n\n## US-001\nfirst\n\n---\n\n## US-002\nsecond\n", true},
		"rewritten":                     {keptLog, "# Log\n---\n## US-001\nfirst, and well\n", "# Log\n---\n\n## US-001\nfirst\n\n---\n\n## US-002\nsecond\n\nfirst, and well\n", true},
		"written anew without a line":   {keptLog, "all is well\n", keptLog + "\nall is well\n", true},
		"without a line in the first":   {"free words\n", "", "", false},
		"nothing below the line so far": {"# Log\n---\n", "other\n", "other\n", false},
		"with a million empty lines":    {keptLog + strings.Repeat("\n", 1<<20), "", keptLog, true},
		"without its last line end":     {keptLog, "# Log\n---\n\n## US-001\nfirst\n\n---\n\n## US-002\nsecond", "# Log\n---\n\n## US-001\nfirst\n\n---\n\n## US-002\nsecond", false},
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
