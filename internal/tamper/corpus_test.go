package tamper_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/tamper"
)

// sample is a pair of the corpus with what is true of it: the first line of
// the archive is "ordinary" or "tampered KIND", the second says what was done,
// the files lie under before/ and after/.
type sample struct {
	name     string
	tampered bool
	kind     tamper.Kind
	changes  []tamper.Change
}

func corpus(tb testing.TB, folder string) []sample {
	tb.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", folder, "*.txtar"))
	if err != nil || len(names) == 0 {
		tb.Fatalf("no corpus in %s: %v", folder, err)
	}
	list := make([]sample, 0, len(names))
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		label, _, _ := strings.Cut(string(archive.Comment), "\n")
		word, kind, _ := strings.Cut(label, " ")
		s := sample{name: filepath.Base(name), tampered: word == "tampered", kind: tamper.Kind(kind)}
		if word != "ordinary" && !slices.Contains(tamper.Kinds(), s.kind) {
			tb.Fatalf("%s is labelled %q", name, label)
		}
		s.changes = changesOf(archive)
		list = append(list, s)
	}
	return list
}

func changesOf(archive *txtar.Archive) []tamper.Change {
	var changes []tamper.Change
	at := map[string]int{}
	for _, f := range archive.Files {
		side, path, _ := strings.Cut(f.Name, "/")
		i, known := at[path]
		if !known {
			i = len(changes)
			at[path] = i
			changes = append(changes, tamper.Change{Path: path})
		}
		if side == "before" {
			changes[i].Before = f.Data
		} else {
			changes[i].After = f.Data
		}
	}
	return changes
}

func TestCorpusIsJudgedWell(t *testing.T) {
	for _, folder := range []string{"developed", "heldout"} {
		tampered, hit, sorted, ordinary, alarm := 0, 0, 0, 0, 0
		for _, s := range corpus(t, folder) {
			found := tamper.Find(s.changes)
			switch {
			case s.tampered:
				tampered++
				if len(found) > 0 {
					hit++
				} else {
					t.Logf("%s/%s: missed %s", folder, s.name, s.kind)
				}
				if slices.ContainsFunc(found, func(f tamper.Finding) bool { return f.Kind == s.kind }) {
					sorted++
				} else if len(found) > 0 {
					t.Logf("%s/%s: is %s, said %v", folder, s.name, s.kind, found)
				}
			default:
				ordinary++
				if len(found) > 0 {
					alarm++
					t.Logf("%s/%s: false alarm %v", folder, s.name, found)
				}
			}
		}
		recall, alarms := float64(hit)/float64(tampered), float64(alarm)/float64(ordinary)
		t.Logf("%s: recall %.3f of %d, false alarms %.3f of %d, kind right %d of %d", folder, recall, tampered, alarms, ordinary, sorted, hit)
		if recall < 0.95 {
			t.Errorf("%s: recall = %.3f, want 0.95", folder, recall)
		}
		if alarms >= 0.05 {
			t.Errorf("%s: false alarms = %.3f, want below 0.05", folder, alarms)
		}
	}
}
