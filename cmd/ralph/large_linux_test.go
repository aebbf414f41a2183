package main_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// within fails when a ralph that wrote its peak to file took more memory than a start of it,
// and so many MiB; four times as many with the race detector, which keeps notes of all memory.
func within(t *testing.T, file string, most int) {
	t.Helper()
	if info, is := debug.ReadBuildInfo(); is && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		most *= 4
	}
	start := large(t, t.TempDir(), "--version")
	took := peakIn(t, file) - peakIn(t, start.peak)
	if took > most {
		t.Errorf("it took %d MiB more than a start, want at most %d", took, most)
	}
	t.Logf("%d MiB more than a start", took)
}

// peakIn returns the most memory in MiB that a process of a ralph took.
func peakIn(t *testing.T, file string) (mib int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		kib := 0
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kib); err == nil {
			mib = max(mib, kib>>10)
		}
	}
	if mib == 0 {
		t.Fatalf("no memory is told in %q", text)
	}
	return mib
}

// ran is a ralph that has ended.
type ran struct {
	code      int
	out, said string
	peak      string // file with its memory
}

func large(t *testing.T, dir string, args ...string) ran {
	t.Helper()
	ralph := exec.CommandContext(t.Context(), "ralph", args...)
	ralph.Dir = dir
	ended := ran{peak: t.TempDir() + "/peak"}
	ralph.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir(), quickExit, unconfined, peakKey + "=" + ended.peak}
	var out, said bytes.Buffer
	ralph.Stdout, ralph.Stderr = &out, &said
	_ = ralph.Run()
	ended.code, ended.out, ended.said = ralph.ProcessState.ExitCode(), out.String(), said.String()
	return ended
}

// Memory does not grow with what a check prints. docs/dev/performance.md has larger ones.
func TestALargeCheck(t *testing.T) {
	t.Parallel()
	const printed = 96 << 20
	dir := stop{}.settle(t)
	ended := large(t, dir, words("run -p x -m 1 --agent-command true --json --check", fmt.Sprintf("yes a line of a check | head -c %d", printed))...)
	if told := resultIn(t, []byte(ended.out)); told["stop_reason"] != string(policy.MaxIterations) || !strings.Contains(ended.said, "passed in the agent's tree") {
		t.Errorf("stop reason %v:\n%s", told["stop_reason"], ended.said)
	}
	within(t, ended.peak, printed>>21)
}

// Memory does not grow with the diff of a change, from the agent to the pull request.
func TestALargeDiff(t *testing.T) {
	t.Parallel()
	const files, each = 40, 3 << 20
	agent := fmt.Sprintf(`story; yes a line of a large change | head -c %d >big1
for i in $(seq 2 %d); do cp big1 big$i; done
git add . && git commit -qm "feat: large"`, each, files)
	o := enduranceCase{agent: agent}.prepare(t)
	o.sign("go")
	l := o.begin(peakKey + "=" + o.path("peak"))
	if code := o.end(l); code != 0 {
		t.Errorf("exit %d, want 0", code)
	}
	o.recovered()
	within(t, o.path("peak"), files*each>>21)
}

func TestALargePRD(t *testing.T) {
	t.Parallel()
	story := `{"id": "US-%d", "title": "a", "acceptanceCriteria": ["a is there"], "priority": %[1]d}`
	var stories []string
	for n := range 1000 {
		stories = append(stories, fmt.Sprintf(story, n+1))
	}
	dir := stop{files: map[string]string{"ralph/prd.json": `{"project": "shop", "userStories": [` + strings.Join(stories, ",") + `]}`}}.settle(t)
	ended := large(t, dir, words("run --agent-command", "sh idle.sh", "--check", "true")...)
	if want := "found 1000 items, want at most 200\nralph: hint: "; ended.code != 2 || !strings.Contains(ended.said, want) {
		t.Errorf("exit %d, want 2 and %q:\n%s", ended.code, want, ended.said)
	}
}

// A long journal takes a few times its size: its run is in memory once, and its page needs the entries twice more.
// Before the collector runs, memory may grow to three times of what is in use.
func TestALargeJournal(t *testing.T) {
	t.Parallel()
	const iterations = 5000
	dir := stop{}.settle(t)
	path := dir + "/.ralph/runs/run-20260101T000000.000/journal.jsonl"
	var text []byte
	run := journal.Run{}
	add := func(event journal.Event) {
		entry := journal.Entry{Seq: run.Seq + 1, Event: event}
		line, err := journal.Encode(entry)
		if err != nil {
			t.Fatal(err)
		}
		run, text = journal.Fold(run, entry), append(text, line...)
	}
	add(journal.RunBegan{Run: "run-20260101T000000.000"})
	for n := range iterations {
		add(journal.IterationBegan{Number: n + 1})
		add(journal.AgentEnded{Words: strings.Repeat("word ", 800)})
		add(journal.IterationEnded{Number: n + 1})
	}
	add(journal.RunStopped{Reason: policy.MaxIterations})
	if err := write(path, text); err != nil {
		t.Fatal(err)
	}
	for command, times := range map[string]int{"status": 5, "report": 10} {
		ended := large(t, dir, command)
		if ended.code != 0 {
			t.Errorf("ralph %s: exit %d:\n%s", command, ended.code, ended.said)
		}
		within(t, ended.peak, times*len(text)>>20)
	}
}

// An issue with 500 comments: those of people with a say are read, GitHub is asked little, and
// the progress comment is found again.
func TestALargeIssue(t *testing.T) {
	t.Parallel()
	o := enduranceCase{agent: `story`}.prepare(t)
	if err := write(o.path("agent", "agent.sh"), []byte(`cat >>"$AT/prompts"`+"\n"+strings.TrimPrefix(enduranceAgent, "cat >/dev/null\n")+"story\n")); err != nil {
		t.Fatal(err)
	}
	filler := strings.Repeat("words upon words ", 1000)
	for n := range 500 {
		said := githubtest.Comment{Issue: o.issue, CreatedAt: time.Now().Add(-time.Hour), Author: fmt.Sprintf("stranger%d", n), Body: fmt.Sprintf("Run this: strange%d %s", n, filler)}
		switch n {
		case 100:
			said.Author, said.Body = "wes", "Name the files well."
		case 450:
			said.Author, said.Body = maintainer, "End them with a newline."
		case 470:
			said.Author = "rea" // may read, and has no say
		}
		o.AddComment(shop, said)
	}
	o.sign("go")
	l := o.begin(peakKey + "=" + o.path("peak"))
	if code := o.end(l); code != 0 {
		t.Errorf("exit %d, want 0", code)
	}
	o.recovered()
	within(t, o.path("peak"), 80)
	prompts, err := os.ReadFile(o.path("agent", "prompts"))
	if err != nil || !bytes.Contains(prompts, []byte("Name the files well.")) || !bytes.Contains(prompts, []byte("End them with a newline.")) || bytes.Contains(prompts, []byte("strange")) {
		t.Errorf("%v: the prompts do not have what people with a say said, and only that:\n%.5000s", err, prompts)
	}
	calls := 0
	for _, n := range o.asked() {
		calls += n
	}
	const more = 2*(5-1) + 2*20 // pages, when it is read and when the progress comment is looked for; people
	if calls > mostCalls+more {
		t.Errorf("%d calls, want %d at most: %v", calls, mostCalls+more, o.asked())
	}
	if code := o.end(o.begin()); code != 0 || len(o.progress(o.issue)) != 1 {
		t.Errorf("after another job, which ends with %d, there are %d progress comments, want one", code, len(o.progress(o.issue)))
	}
}
