package main_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

// stop is a run that ends for a reason.
type stop struct {
	args  []string
	files map[string]string // besides those of project
	exit  int
}

// project is a folder that any of the stops can be brought about in.
var project = map[string]string{
	"ralph/prd.json": `{"project": "shop", "verifyCommands": ["true"], "userStories": [{"id": "US-001", "title": "a", "acceptanceCriteria": ["a is there"], "priority": 1}]}`,
	".gitignore":     "*.sh\n*.txtar\nDONE\nsaid\n",
	"idle.sh":        "echo I had a look",
	"more.sh":        "echo more >>work",
	"done.sh":        "echo more >>work; echo '<response>done</response>'; echo '<promise>COMPLETE</promise>'",
	"story.sh":       `echo a >a; sed -i 's/"priority": 1/"priority": 1, "passes": true/' ralph/prd.json`,
	"cancel.sh":      `kill -INT "$(cat .ralph/lock .ralph/supervise.lock 2>/dev/null)"; until grep -q -e '^Received signal' -e stopping said; do sleep 0.02; done`,
	"broken.sh":      "#!/no/such/interpreter",
	"cost.txtar":     "costs\n-- 1/write/a --\na\n-- 1/cost --\nusd: 2\n",
	"tokens.txtar":   "costs\n-- 1/write/a --\na\n-- 1/cost --\nusd: 0.01\ninput: 2000\n",
}

var allPassed = map[string]string{
	"ralph/prd.json": `{"project": "shop", "userStories": [{"id": "US-001", "title": "a", "acceptanceCriteria": ["a is there"], "priority": 1, "passes": true}]}`,
}

var twoStories = map[string]string{
	"ralph/prd.json": `{"project": "shop", "userStories": [
		{"id": "US-001", "title": "a", "acceptanceCriteria": ["a is there"], "priority": 1, "passes": false},
		{"id": "US-002", "title": "b", "acceptanceCriteria": ["b is there"], "priority": 2, "passes": false}]}`,
	".ralph/settings.json": `{"untested": "off"}`,
	"next.sh":              `echo more >>work; sed -i '0,/"passes": false/s//"passes": true/' ralph/prd.json`,
}

// fiveTimes passes at the base, and in the agent's tree and on a clean checkout for each of two stories, but not for the
// whole change.
const fiveTimes = "for n in 1 2 3 4 5; do mkdir $HOME/$n 2>/dev/null && exit 0; done; exit 1"

// stops are the reasons that a laptop knows, by the name of one and how it came
// to it.
var stops = map[policy.Reason]map[string]stop{
	policy.AllStoriesPassed: {"run": {args: words("run --agent-command", "sh story.sh", "--check", "test -s ralph/prd.json")}},
	policy.NothingToDo:      {"run": {args: words("run --agent-command", "sh idle.sh", "--check", "true"), files: allPassed}},
	policy.ResponseMatched:  {"run": {args: words("run -p x --agent-command", "sh done.sh")}},
	policy.AllChecksPassed:  {"loop": {args: words("loop x --check true --agent-command", "sh done.sh")}},
	policy.DoneFile:         {"supervise": {args: words("supervise --json -- touch DONE")}},
	policy.Waiting:          {"supervise": {args: words("supervise --json -- sh -c", "exit 42")}},
	policy.MaxIterations: {
		"run":       {args: words("run -m 1 --agent-command", "sh more.sh"), exit: 1},
		"prompt":    {args: words("run -p x -m 2 --agent-command", "sh more.sh"), exit: 1},
		"loop":      {args: words("loop x --check true --max-iterations 2 --agent-command", "sh more.sh"), exit: 1},
		"supervise": {args: words("supervise --json --max-restarts 1 -- true"), exit: 1},
	},
	policy.BudgetExhausted: {
		"dollars": {args: words("run -p x --max-cost 1 --agent scripted --agent-command cost.txtar"), exit: 1},
		"tokens":  {args: words("loop x --check true --max-tokens 1000 --agent scripted --agent-command tokens.txtar"), exit: 1},
	},
	policy.Timeout: {
		"run":  {args: words("run --max-time 1ms --agent-command", "sh more.sh"), exit: 1},
		"loop": {args: words("loop x --check false --max-time 1ms --agent-command", "sh more.sh"), exit: 1},
	},
	policy.Stalled: {
		"run":  {args: words("run --stall-after 2 --agent-command", "sh idle.sh"), exit: 1},
		"loop": {args: words("loop x --check false --stall-after 2 --agent-command", "sh idle.sh"), exit: 1},
	},
	policy.VerificationFailed: {"run": {args: words("run --agent-command", "sh next.sh", "--check", fiveTimes), files: twoStories, exit: 1}},
	policy.Cancelled: {
		"run":       {args: words("run --agent-command", "sh cancel.sh"), exit: 130},
		"prompt":    {args: words("run -p x --agent-command", "sh cancel.sh"), exit: 130},
		"loop":      {args: words("loop x --check true --agent-command", "sh cancel.sh"), exit: 130},
		"supervise": {args: words("supervise --json -- sh cancel.sh"), exit: 130},
	},
	policy.FatalError: {
		"run":       {args: words("run --agent-command ./broken.sh"), exit: 2},
		"prompt":    {args: words("run -p x --agent-command ./broken.sh"), exit: 2},
		"loop":      {args: words("loop x --check true --agent-command", "sh -c 'exit 1'"), exit: 2},
		"supervise": {args: words("supervise --json -- ./broken.sh"), exit: 2},
	},
}

// elsewhere are the reasons that no command of a laptop stops a run for.
var elsewhere = []policy.Reason{policy.PromiseAccepted, policy.NeedsInput}

// words returns the words of the first text, and then the others as they are.
func words(text string, more ...string) []string {
	var all []string
	for word := range bytes.FieldsSeq([]byte(text)) {
		all = append(all, string(word))
	}
	return append(all, more...)
}

// TestStops has every stop reason be brought about for real: the exit code, the
// object on standard output and the end of the journal say the same.
func TestStops(t *testing.T) {
	t.Parallel()
	for _, reason := range policy.Reasons() {
		ways, known := stops[reason]
		if known == slices.Contains(elsewhere, reason) {
			t.Errorf("%s is neither brought about nor known to be of elsewhere, or both", reason)
		}
		for _, way := range slices.Sorted(maps.Keys(ways)) {
			if !short.Has(string(reason) + way) {
				continue
			}
			t.Run(string(reason)+" "+way, func(t *testing.T) {
				t.Parallel()
				ways[way].test(t, reason)
			})
		}
	}
}

func (s stop) test(t *testing.T, reason policy.Reason) {
	t.Helper()
	dir := s.settle(t)
	exit, out := s.run(t, dir)
	if exit != s.exit {
		t.Errorf("exit %d, want %d", exit, s.exit)
	}
	told := resultIn(t, out)
	got := []any{told["stop_reason"], told["status"], told["success"]}
	want := []any{string(reason), string(reason.Status()), reason.Status() == policy.StatusCompleted}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stop_reason, status, success (-want +got):\n%s", diff)
	}
	path, _ := told["journal_path"].(string)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	entries, _, err := journal.Replay(data)
	if err != nil || len(entries) == 0 {
		t.Fatalf("the journal has %d events: %v", len(entries), err)
	}
	if last, is := entries[len(entries)-1].Event.(journal.RunStopped); !is || last.Reason != reason {
		t.Errorf("the journal ends with %+v", entries[len(entries)-1].Event)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".ralph-active")); err == nil {
		t.Error("the marker is still there")
	}
}

// settle lays out the project, all of it committed.
func (s stop) settle(t *testing.T) string {
	t.Helper()
	dir := memory(t)
	files := maps.Clone(project)
	maps.Copy(files, s.files)
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "begin"}} {
		git := exec.CommandContext(t.Context(), "git", args...)
		git.Dir = dir
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	return dir
}

// run runs ralph in dir, what people are told going to the file said.
func (s stop) run(t *testing.T, dir string) (exit int, out []byte) {
	t.Helper()
	said, err := os.Create(filepath.Join(dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	args := s.args
	if !slices.Contains(args, "--json") {
		args = append(args, "--json")
	}
	ralph := exec.CommandContext(t.Context(), "ralph", args...)
	ralph.Dir, ralph.Stderr = dir, said
	ralph.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir(), quickExit, unconfined}
	out, _ = ralph.Output()
	t.Cleanup(func() {
		if text, err := os.ReadFile(said.Name()); err == nil && t.Failed() {
			t.Logf("%q said:\n%s\n%s", args, text, out)
		}
	})
	return ralph.ProcessState.ExitCode(), out
}

// The fields of a result and of its iterations, to the letter: scripts rely on
// them.
var (
	resultFields = []string{
		"branch", "head", "iterations", "journal_path", "run_id", "status", "stop_reason", "success",
		"total_cost_usd", "total_duration_s", "total_iterations", "worktree_path",
	}
	passFields  = []string{"all_checks_passed", "check_results", "completion_tag_found", "cost", "duration", "error", "iteration", "steps_taken"}
	checkFields = []string{"name", "output", "passed"}
)

// resultIn returns the one object that out has to be.
func resultIn(t *testing.T, out []byte) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(out))
	var told map[string]any
	if err := decoder.Decode(&told); err != nil {
		t.Fatalf("%q is no object: %v", out, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		t.Errorf("there is more than one object: %s", out)
	}
	lacks(t, told, resultFields)
	passes, _ := told["iterations"].([]any)
	if float64(len(passes)) != told["total_iterations"] {
		t.Errorf("%d iterations, total_iterations %v", len(passes), told["total_iterations"])
	}
	for _, pass := range passes {
		fields, _ := pass.(map[string]any)
		lacks(t, fields, passFields)
		checks, are := fields["check_results"].([]any)
		if !are {
			t.Errorf("check_results is %v, want a list", fields["check_results"])
		}
		for _, check := range checks {
			one, _ := check.(map[string]any)
			lacks(t, one, checkFields)
		}
	}
	return told
}

func lacks(t *testing.T, object map[string]any, fields []string) {
	t.Helper()
	for _, field := range fields {
		if _, there := object[field]; !there {
			t.Errorf("there is no %q in %v", field, object)
		}
	}
}
