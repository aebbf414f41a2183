package upkeep_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/hub/upkeep"
)

const evidence = "<!-- ralph:pull --><!-- ralph:kept abc -->\n\n### Checked on a clean checkout of `1111111`\n\nCloses #7\n"

// A head of others is named as not yet proven, with the commit that the evidence is of;
// the newest one takes the place of the one before.
func TestForeignHeads(t *testing.T) {
	const first, second = "2222222000000000000000000000000000000000", "3333333000000000000000000000000000000000"
	once := upkeep.Foreign(strings.ReplaceAll(evidence, "\n", "\r\n"), first, "mia")
	twice := upkeep.Foreign(once, second, "otto")
	if !strings.HasPrefix(twice, "<!-- ralph:pull --><!-- ralph:kept abc -->\n") {
		t.Errorf("the marks are not first: %.80q", twice)
	}
	for text, want := range map[string]int{"`2222222`": 0, "`3333333`, which otto pushed": 1, "evidence below belongs to `1111111`": 1, "Closes #7": 1} {
		if got := strings.Count(twice, text); got != want {
			t.Errorf("%q stands there %d times, want %d:\n%s", text, got, want, twice)
		}
	}
	if again := upkeep.Foreign(twice, second, "otto"); again != twice {
		t.Errorf("the same head once more gives\n%s\nwant\n%s", again, twice)
	}
	if joined := upkeep.Join(twice, "<!-- ralph:pull -->\n\nAll new"); strings.Contains(joined, "Not yet proven") {
		t.Errorf("the next run keeps the note:\n%s", joined)
	}
}

// A head that the text names is ralph's own.
func TestOwnHeadsAreNotForeign(t *testing.T) {
	if got := upkeep.Foreign(evidence, "1111111000000000000000000000000000000000", "mia"); got != evidence {
		t.Errorf("a proven head gives\n%s", got)
	}
	unchecked := strings.Replace(evidence, "\n\nCloses", "\n\nThe newest commit, `5555555`, was not checked on a clean checkout.\n\nCloses", 1)
	if got := upkeep.Foreign(unchecked, "5555555000000000000000000000000000000000", "mia"); got != unchecked {
		t.Errorf("a head without evidence gives\n%s", got)
	}
	later := upkeep.Join(evidence, "<!-- ralph:pull -->\n\n### Checked on a clean checkout of `4444444`")
	back := upkeep.Foreign(later, "1111111000000000000000000000000000000000", "mia")
	if !strings.Contains(back, "evidence below belongs to `4444444`") {
		t.Errorf("a head that an older text names is not foreign:\n%s", back)
	}
}

// A commit that the text names as that of a story was not proven as a head.
func TestCommitsOfStoriesAreForeign(t *testing.T) {
	stories := evidence + "\n### Stories\n\n| 1 | `6666666` |\n"
	if got := upkeep.Foreign(stories, "6666666000000000000000000000000000000000", "mia"); !strings.Contains(got, "**Not yet proven:** `6666666`") {
		t.Errorf("the head of a story's commit gives\n%s", got)
	}
}
