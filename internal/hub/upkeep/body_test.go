package upkeep_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/hub/upkeep"
)

func TestJoinKeepsTheFirstTextAndReplacesTheLater(t *testing.T) {
	const opened = "<!-- ralph:pull --><!-- ralph:kept abc -->\r\n\r\n### What changed\r\n\r\nCloses #7\r\n"
	once := upkeep.Join(opened, "<!-- ralph:pull -->\n\nSecond\n")
	twice := upkeep.Join(once, "<!-- ralph:pull -->\n\nThird\n")
	if want := "<!-- ralph:pull --><!-- ralph:kept abc -->\n"; !strings.HasPrefix(twice, want) {
		t.Errorf("the text begins with %.60q, want %q", twice, want)
	}
	for text, want := range map[string]int{"Second": 0, "Third": 1, "Closes #7": 1, "The work before that": 1, "ralph:pull -->": 1} {
		if got := strings.Count(twice, text); got != want {
			t.Errorf("%q stands there %d times, want %d:\n%s", text, got, want, twice)
		}
	}
	if strings.Index(twice, "Third") > strings.Index(twice, "Closes #7") {
		t.Errorf("the newest text is not on top:\n%s", twice)
	}
	if again := upkeep.Join(twice, "<!-- ralph:pull -->\n\nThird\n"); again != twice {
		t.Errorf("the same text once more gives\n%s\nwant\n%s", again, twice)
	}
}

func TestJoinKeepsTheIssueWhereThereIsNoRoom(t *testing.T) {
	opened := "<!-- ralph:pull -->\n" + strings.Repeat("much ", 20_000) + "\n\nCloses #7\n"
	got := upkeep.Join(opened, "<!-- ralph:pull -->\nNew")
	if len(got) > 1000 || !strings.Contains(got, "New") || !strings.HasSuffix(got, "Closes #7\n") {
		t.Errorf("Join gives %d characters that end with %q", len(got), got[max(0, len(got)-40):])
	}
}
