package journal_test

import (
	"os"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
)

// docs/dev/journal.md has an entry for every type of event.
func TestEveryEventIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/dev/journal.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range journal.Types() {
		if !strings.Contains(string(text), "- **`"+name+"`**: ") {
			t.Errorf("docs/dev/journal.md has no entry for %s", name)
		}
	}
}
