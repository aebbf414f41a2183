package report_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/redact"
	"github.com/ralph-loop/ralph/internal/show/report"
	"github.com/ralph-loop/ralph/internal/testsupport/golden"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// examples are runs of ralph with the scripted agent. tools/report generates them.
var examples = []string{"clean", "lie", "resumed"}

// example returns a run in a folder of testdata.
func example(t *testing.T, name string) report.Source {
	t.Helper()
	dir := filepath.Join("testdata", name)
	data, err := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	entries, sound, err := journal.Replay(data)
	if err != nil || int(sound) != len(data) {
		t.Fatalf("%s: %d of %d bytes stand: %v", name, sound, len(data), err)
	}
	return report.Source{
		Entries: entries, Items: items(t), Hide: redact.New().String,
		Read: func(file, digest string) (string, error) {
			return kept(filepath.Join(dir, filepath.Base(file)), digest)
		},
		Diff: func(_, to string) (string, bool, error) {
			data, err := os.ReadFile(filepath.Join(dir, to[:7]+".diff"))
			return string(data), false, err
		},
	}
}

func kept(name, digest string) (string, error) {
	data, err := os.ReadFile(name)
	if sum := sha256.Sum256(data); err == nil && hex.EncodeToString(sum[:]) != digest {
		err = errors.New(name + " is not what it was")
	}
	return string(data), err
}

// items reads transcripts of the scripted agent.
func items(t *testing.T) func(transcript string) []stream.Item {
	t.Helper()
	adapter, err := agent.Pick("scripted", agent.Options{Script: "-", Self: "-"})
	if err != nil {
		t.Fatal(err)
	}
	return func(transcript string) []stream.Item {
		decoder := adapter.Decoder(agent.Order{})
		var all []stream.Item
		for line := range strings.Lines(transcript) {
			all = append(all, decoder.Line([]byte(strings.TrimSpace(line)))...)
		}
		return append(all, decoder.End()...)
	}
}

func noFile(string, string) (string, error) { return "", fs.ErrNotExist }

func asIs(text string) string { return text }

func html(t *testing.T, s report.Source) string {
	t.Helper()
	page, err := s.HTML()
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// The pages of the examples are as in testdata.
func TestExamples(t *testing.T) {
	for _, name := range examples {
		t.Run(name, func(t *testing.T) {
			s := example(t, name)
			markdown, err := s.Markdown()
			if err != nil {
				t.Fatal(err)
			}
			if page := html(t, s); strings.Contains(page, "Not shown:") || strings.Contains(page, "gone or was changed") {
				t.Error("a file is missing beside the journal, or is not what it was")
			}
			golden.Compare(t, *update, filepath.Join("testdata", name, "report.html"), html(t, s))
			golden.Compare(t, *update, filepath.Join("testdata", name, "report.md"), string(markdown))
		})
	}
}

// A file that was changed after the run is not shown.
func TestChangedAttachments(t *testing.T) {
	s := example(t, "lie")
	s.Read = func(string, string) (string, error) { return "forged", errors.New("it is not what it was") }
	page := html(t, s)
	if strings.Contains(page, "forged") {
		t.Error("a forged file is shown")
	}
	for _, want := range []string{
		"Not shown: the file is missing or was changed.",
		"the whole file is missing or was changed", // of a log, of which the journal has an excerpt
		"TestOff",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// Every prefix of a journal makes a page, even without the funcs of Source.
func TestEveryMoment(t *testing.T) {
	for _, name := range examples {
		entries := example(t, name).Entries
		for n := range len(entries) + 1 {
			s := report.Source{Entries: entries[:n], Hide: asIs, Read: noFile}
			if page := html(t, s); !strings.Contains(page, "</html>") {
				t.Errorf("%s after %d events: the page has no end", name, n)
			}
			if _, err := s.Markdown(); err != nil {
				t.Errorf("%s after %d events: %v", name, n, err)
			}
		}
	}
}
