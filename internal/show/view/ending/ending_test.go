package ending_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/show/view"
	"github.com/ralph-loop/ralph/internal/show/view/ending"
	"github.com/ralph-loop/ralph/internal/testsupport/journaltest"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// Every file in testdata has a failed run and its end on the console, in the comment and the annotations.
func TestEndings(t *testing.T) {
	journaltest.Stories(t, *update, func(t *testing.T, s journaltest.Story) []txtar.File {
		t.Helper()
		board, e := view.Of(s.Run), ending.Of(s.Run)
		if name := strings.ReplaceAll(e.Cause.String(), " ", "-"); filepath.Base(t.Name()) != name {
			t.Errorf("the cause is %q", e.Cause)
		}
		return []txtar.File{
			{Name: "console", Data: []byte(console(s.Entries))},
			{Name: "comment.md", Data: []byte(ends(board.Comment))},
			{Name: "annotations", Data: []byte(annotations(s.Run))},
		}
	})
}

// console returns the last lines of a run on a terminal.
func console(entries []journal.Entry) string {
	var run journal.Run
	var said string
	c := view.Console{Now: time.Now}
	for _, entry := range entries {
		run = journal.Fold(run, entry)
		said = c.Event(run, entry.Event)
	}
	return strings.TrimSpace(said) + "\n"
}

// ends returns the headline and the next step.
func ends(page string) string {
	var kept []string
	for line := range strings.Lines(page) {
		if strings.Contains(line, " **") && len(kept) == 0 || strings.HasPrefix(line, "**Next:** ") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

func annotations(run journal.Run) string {
	var text strings.Builder
	for _, a := range view.Annotations(run) {
		kind := "error"
		if a.Notice {
			kind = "notice"
		}
		fmt.Fprintf(&text, "::%s title=%s::%s\n", kind, a.Title, a.Text)
	}
	return text.String()
}

// Each cause has a golden, and no two causes share a headline or a next step.
func TestEveryCauseHasItsOwnWords(t *testing.T) {
	said := map[string]string{}
	var seen []string
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		run := journaltest.Run(t, archive.Files[0].Data)
		e := ending.Of(run)
		seen = append(seen, e.Cause.String())
		for _, text := range []string{e.Headline, view.Headline(run), view.Next(run)} {
			if other, is := said[text]; is && other != e.Cause.String() || text == "" {
				t.Errorf("%q and %q both say %q", e.Cause, other, text)
			}
			said[text] = e.Cause.String()
		}
	}
	source, err := os.ReadFile("ending.go")
	if err != nil {
		t.Fatal(err)
	}
	causes := regexp.MustCompile(`&Cause\{name: "([^"]+)"`).FindAllStringSubmatch(string(source), -1)
	for _, cause := range causes {
		if !slices.Contains(seen, cause[1]) {
			t.Errorf("no golden tells of %q", cause[1])
		}
	}
	if len(causes) < 20 {
		t.Errorf("ending.go has %d causes", len(causes))
	}
}
