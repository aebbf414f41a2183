package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// large is a repository with a hundred thousand files and a gigabyte of history.
const (
	largeFiles   = 100_000
	largeCommits = 40
	largeChanged = 10_000 // files of each commit
	largeWords   = 256    // of eight letters in a file
)

// history writes it as git fast-import reads it.
func history(to *bufio.Writer) {
	random := rand.New(rand.NewPCG(1, 2)) // the same each time
	file := func(i int) {
		fmt.Fprintf(to, "M 100644 inline d%02d/e%02d/f%d.txt\ndata %d\n", i%100, i/100%100, i, 9*largeWords)
		for range largeWords {
			fmt.Fprintf(to, "%08s\n", strconv.FormatUint(random.Uint64N(36<<35), 36))
		}
	}
	for commit := range largeCommits + 1 {
		fmt.Fprintf(to, "commit refs/heads/main\nmark :%d\ncommitter Ada <ada@example.com> %d +0000\ndata 4\nwork\n", commit+1, 1_700_000_000+commit)
		if commit == 0 {
			for i := range largeFiles {
				file(i)
			}
			continue
		}
		fmt.Fprintf(to, "from :%d\n", commit)
		for i := range largeChanged {
			file((commit*largeChanged + i) % largeFiles)
		}
	}
}

// BenchmarkLarge is what the steps of a run cost in a large repository, beside the git
// command that is the least of each. The least of all rounds counts: what others on the machine
// do is added to it.
func BenchmarkLarge(b *testing.B) {
	w := newWorkshop(b)
	stream, err := os.Create(w.path("stream"))
	if err != nil {
		b.Fatal(err)
	}
	buffered := bufio.NewWriter(stream)
	history(buffered)
	if err := buffered.Flush(); err != nil {
		b.Fatal(err)
	}
	w.project("large", false, false)
	w.run("large", "", "sh", "-c", "rm -rf src && git init -q -b main && git fast-import --quiet <../stream && rm ../stream && git reset -q --hard && "+
		"printf '/ralph/\\n/.gitignore\\n/.ralph/\\n' >>.git/info/exclude && git status")
	w.write("bin/commits", "#!/bin/sh\ndate +%s%N >"+w.path("asked")+"\necho x >>d01/e01/f101.txt; git commit -qam 'feat: [US-001] - one'\n"+
		`sed -i 's/"passes": *false/"passes": true/' ralph/prd.json`+"\n", 0o755)
	least := map[string]float64{}
	note := func(step string, took time.Duration) {
		if known, is := least[step]; !is || took.Seconds() < known {
			least[step] = took.Seconds()
		}
	}
	for b.Loop() {
		note("status", w.run("large", "", "sh", "-c", "git status >../out").wall)
		note("add", w.run("large", "", "git", "worktree", "add", "-q", "--detach", "../tree").wall)
		note("remove", w.run("large", "", "git", "worktree", "remove", "-f", "../tree").wall)
		began := time.Now()
		w.run("large", "", "sh", "-c", "exec ralph run -m 1 --stall-after 0 --max-time 0 --no-sandbox --agent-command commits >../said 2>&1")
		at := w.times("large")
		asked, err := os.ReadFile(w.path("asked"))
		nanos, wrong := strconv.ParseInt(strings.TrimSpace(string(asked)), 10, 64)
		if err != nil || wrong != nil {
			b.Fatal(err, wrong)
		}
		note("prompt", time.Unix(0, nanos).Sub(began))
		note("snapshot", at("commits_taken").Sub(at("agent_ended")))
		note("checkout", at("check_ended").Sub(at("commits_taken")))
		note("proof", at("story_graded").Sub(at("commits_taken")))
		w.run("large", "", "sh", "-c", "git checkout -q main && git branch -qD ralph/bench && rm -rf .ralph && "+
			`sed -i 's/"passes": *true/"passes": false/' ralph/prd.json`)
	}
	for step, of := range map[string][]string{
		"prompt": {"status", "add", "remove"}, "snapshot": {"status"}, "checkout": {"add"}, "proof": {"add", "remove"},
	} {
		floor := 0.0
		for _, command := range of {
			floor += least[command]
			b.ReportMetric(least[command], command+"-s")
		}
		b.ReportMetric(least[step]/floor, "x-"+step)
	}
	b.ReportMetric(0, "ns/op")
}

// times returns when the newest event of a type was written in the only run of a project.
func (w *workshop) times(dir string) func(kind string) time.Time {
	w.Helper()
	names, _ := filepath.Glob(w.path(dir + "/.ralph/runs/*/journal.jsonl"))
	if len(names) != 1 {
		w.Fatalf("%d journals, want one", len(names))
	}
	text, err := os.ReadFile(names[0])
	if err != nil {
		w.Fatal(err)
	}
	newest := map[string]time.Time{}
	for line := range strings.Lines(string(text)) {
		var entry struct {
			At   time.Time `json:"at"`
			Type string    `json:"type"`
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			w.Fatal(err)
		}
		newest[entry.Type] = entry.At
	}
	return func(kind string) time.Time {
		w.Helper()
		if newest[kind].IsZero() {
			said, _ := os.ReadFile(w.path("said"))
			w.Fatalf("no %s in the journal:\n%s", kind, said)
		}
		return newest[kind]
	}
}
