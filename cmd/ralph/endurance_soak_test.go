package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/policy"
)

// goroutinesKey names a file for a ralph that a test started: it writes there how many
// goroutines it has.
const goroutinesKey = "RALPH_TEST_GOROUTINES"

// soakingAgent commits something in each turn, and measures the program that started
// it in every fiftieth.
const soakingAgent = `cat >/dev/null
echo "$RALPH_ITERATION" >>work
git -c user.name=a -c user.email=a@b commit -qam "feat: $RALPH_ITERATION"
[ $((RALPH_ITERATION % 50)) -eq 0 ] || exit 0
memory=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' /proc/$PPID/status)
files=$(ls /proc/$PPID/fd | wc -l)
disk=$(du -sk .ralph | cut -f1)
echo "$RALPH_ITERATION $memory $files $(cat "$SAMPLES.goroutines") $disk" >>"$SAMPLES"
`

// footprint is what a run takes at an iteration.
type footprint struct{ iteration, memory, files, goroutines, disk int }

// TestSoak has one run make 500 iterations with ENDURANCE, else 100. It holds no
// more files and goroutines at the end than at the beginning.
func TestSoak(t *testing.T) {
	t.Parallel()
	most := 500
	if os.Getenv("ENDURANCE") == "" {
		most = 100
	}
	dir, samples := stop{files: map[string]string{"work": "", "agent.sh": soakingAgent}}.settle(t), filepath.Join(t.TempDir(), "samples")
	run := exec.CommandContext(t.Context(), "ralph", "run", "-p", "x", "-m", fmt.Sprint(most), "--stall-after", "0", "--agent", "command", "--agent-command", "sh agent.sh", "--check", "true", "--json")
	run.Dir = dir
	run.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir(), quickExit, unconfined, "SAMPLES=" + samples, goroutinesKey + "=" + samples + ".goroutines"}
	out, _ := run.Output()
	if told := resultIn(t, out); told["stop_reason"] != string(policy.MaxIterations) {
		t.Fatalf("stop reason %v, want %s", told["stop_reason"], policy.MaxIterations)
	}
	text, err := os.ReadFile(samples)
	if err != nil {
		t.Fatal(err)
	}
	var all []footprint
	table := "iteration  memory KiB  files  goroutines  .ralph KiB\n"
	for line := range strings.Lines(string(text)) {
		var s footprint
		if _, err := fmt.Sscan(line, &s.iteration, &s.memory, &s.files, &s.goroutines, &s.disk); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, s)
		table += fmt.Sprintf("%9d  %10d  %5d  %10d  %10d\n", s.iteration, s.memory, s.files, s.goroutines, s.disk)
	}
	t.Log("\n" + table)
	first, last := all[0], all[len(all)-1]
	if last.iteration != most || last.files > first.files+2 || last.goroutines > first.goroutines+2 {
		t.Errorf("at iteration %d: %d files and %d goroutines; at %d: %d and %d", first.iteration, first.files, first.goroutines, last.iteration, last.files, last.goroutines)
	}
}
