// Package journaltest reads runs from archives: a sentence, the lines of a
// journal, and the expected result. For tests only.
package journaltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/core/journal"
)

// Story is one archive of testdata.
type Story struct {
	Entries []journal.Entry
	Run     journal.Run // what the journal amounts to
}

// Stories holds every archive in testdata against what tell makes of its
// journal; update writes that into the archives instead.
func Stories(t *testing.T, update bool, tell func(*testing.T, Story) []txtar.File) {
	t.Helper()
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			entries := Entries(t, archive.Files[0].Data)
			parts := tell(t, Story{Entries: entries, Run: journal.Fold(journal.Run{}, entries...)})
			got := &txtar.Archive{Comment: archive.Comment, Files: append(archive.Files[:1:1], parts...)}
			if update {
				err = os.WriteFile(name, txtar.Format(got), 0o644)
			} else if diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(got))); diff != "" {
				t.Errorf("%s(-want +got):\n%s", archive.Comment, diff)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// usual is the first event of a story that does not bring its own.
const usual = `{"type":"run_began","run":"r1","base_ref":"main","base":"b0","start":"b0","branch":"ralph/issue-12-a-shop","level":"none",
"task":{"kind":"issue","number":12,"title":"A shop that sells","author":"ada","repo":"acme/shop"},
"policy":{"agent":"claude","word":"COMPLETE","baseline":"new","publish":true,"checks":[{"name":"test","command":"make test"}],
"limits":{"iterations":5,"cost_usd":5,"run":"2h","stall":3,"failures":3}},
"plan":{"userStories":[{"id":"US-001","title":"A cart","acceptanceCriteria":["adds","removes"],"priority":1},{"id":"US-002","title":"An order","acceptanceCriteria":["pays"],"priority":2}]}}`

// Entries reads a story's journal. Number, version and time are added, a
// minute an event; a run_began changes only what it names, and a plan_read
// without a plan leaves the plan as it was.
func Entries(tb testing.TB, text []byte) []journal.Entry {
	tb.Helper()
	lines := [][]byte{[]byte(usual)}
	for line := range bytes.Lines(bytes.TrimSpace(text)) {
		if bytes.Contains(line, []byte(`"type":"run_began"`)) {
			lines[0] = merge(tb, lines[0], line)
			continue
		}
		lines = append(lines, line)
	}
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var entries []journal.Entry
	for i, line := range lines {
		frame := fmt.Sprintf(`{"v":1,"seq":%d,"at":%q}`, i+1, at.Add(time.Duration(i)*time.Minute).Format(time.RFC3339))
		entry, err := journal.Decode(merge(tb, []byte(frame), line))
		if err != nil {
			tb.Fatal(err)
		}
		entries = append(entries, planned(entries, entry))
	}
	return entries
}

// Run returns what a story's journal amounts to.
func Run(tb testing.TB, text []byte) journal.Run {
	tb.Helper()
	return journal.Fold(journal.Run{}, Entries(tb, text)...)
}

// planned is entry with the plan as it stood, if it is of an agent that left
// it alone.
func planned(before []journal.Entry, entry journal.Entry) journal.Entry {
	read, is := entry.Event.(journal.PlanRead)
	if is && read.Plan.UserStories == nil {
		read.Plan = journal.Fold(journal.Run{}, before...).Plan
		entry.Event = read
	}
	return entry
}

// merge lays one JSON object over another.
func merge(tb testing.TB, base, over []byte) []byte {
	tb.Helper()
	var low, high map[string]any
	for _, part := range []struct {
		data []byte
		into *map[string]any
	}{{base, &low}, {over, &high}} {
		if err := json.Unmarshal(part.data, part.into); err != nil {
			tb.Fatalf("%s: %v", part.data, err)
		}
	}
	lay(low, high)
	data, err := json.Marshal(low)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func lay(low, high map[string]any) {
	for key, value := range high {
		if inner, is := value.(map[string]any); is {
			if below, is := low[key].(map[string]any); is {
				lay(below, inner)
				continue
			}
		}
		maps.Copy(low, map[string]any{key: value})
	}
}
