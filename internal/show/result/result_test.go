package result_test

import (
	"encoding/json"
	"flag"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/show/result"
	"github.com/ralph-loop/ralph/internal/testsupport/journaltest"
)

var update = flag.Bool("update", false, "write the results into testdata")

// Scripts get every key in each state of a run; what is not known is null.
func TestOf(t *testing.T) {
	journaltest.Stories(t, *update, func(t *testing.T, story journaltest.Story) []txtar.File {
		t.Helper()
		data, err := json.MarshalIndent(result.Of(story.Run), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		return []txtar.File{{Name: "result.json", Data: append(data, '\n')}}
	})
}
