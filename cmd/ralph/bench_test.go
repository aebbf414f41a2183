package main_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// What these measure is put beside a bare shell that does the same, in pairs:
// one after the other, so that anything else a machine does falls on both. It
// has both wait, so what they made the processors do is told besides. None of
// them asserts a time. docs/dev/performance.md has the figures and how to get them
// anew.

// workshop is a folder with the program in it, built as it is released.
type workshop struct {
	*testing.B
	dir string
}

func newWorkshop(b *testing.B) *workshop {
	b.Helper()
	w := &workshop{B: b, dir: b.TempDir()}
	w.write("home/.gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.com\n", 0o644)
	build := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", w.path("bin/ralph"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return w
}

func (w *workshop) path(name string) string { return filepath.Join(w.dir, name) }

func (w *workshop) write(name, text string, mode os.FileMode) {
	w.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), mode); err != nil {
		w.Fatal(err)
	}
}

// used is what a command took, with all that it started.
type used struct{ wall, cpu time.Duration }

// run runs a command and lets it end as it likes, but for not being there.
func (w *workshop) run(dir, stdin string, argv ...string) used {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdin = w.path(dir), strings.NewReader(stdin)
	cmd.Env = []string{
		"PATH=" + w.path("bin") + ":" + os.Getenv("PATH"), "HOME=" + w.path("home"), "TMPDIR=" + w.dir, "ANTHROPIC_API_KEY=none",
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began)
	if code := cmd.ProcessState.ExitCode(); code != 0 && code != 1 {
		text := said.String()
		w.Fatalf("%v: %v\n%s", argv, err, text[max(0, len(text)-2000):])
	}
	return used{took, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
}

// sample is what a shell took for the same, what ralph took, and what of that
// has nothing to do with the matter, round by round.
type sample struct{ bare, with, before []used }

func (s *sample) add(bare, with, before used) {
	s.bare, s.with, s.before = append(s.bare, bare), append(s.with, with), append(s.before, before)
}

// report tells what each of so many took, in the middle of all rounds, and the
// least of them: all that others on the machine do is added to it.
func (s *sample) report(b *testing.B, many int) {
	b.Helper()
	for name, time := range map[string]func(used) time.Duration{
		"ms": func(u used) time.Duration { return u.wall }, "cpu-ms": func(u used) time.Duration { return u.cpu },
	} {
		var bare, own, ratio []float64
		for i := range s.bare {
			shell, more := time(s.bare[i]), time(s.with[i])-time(s.before[i])
			bare = append(bare, shell.Seconds()*1000/float64(many))
			own = append(own, (more-shell).Seconds()*1000/float64(many))
			ratio = append(ratio, more.Seconds()/shell.Seconds())
		}
		b.ReportMetric(median(bare), "bare-"+name)
		b.ReportMetric(median(own), "own-"+name)
		b.ReportMetric(slices.Min(own), "least-own-"+name)
		b.ReportMetric(median(ratio), "x-bare-"+name)
	}
	b.ReportMetric(0, "ns/op") // says nothing
}

// median sorts all.
func median(all []float64) float64 {
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// project is a repository with some files and, tracked or not, a plan.
func (w *workshop) project(dir string, repository, tracked bool) {
	w.Helper()
	const plan = `{"project":"bench","branchName":"ralph/bench","description":"d","verifyCommands":["true"],"userStories":[` +
		`{"id":"US-001","title":"one","description":"d","acceptanceCriteria":["a"],"priority":1,"passes":false,"notes":""}]}`
	w.write(dir+"/ralph/prd.json", plan, 0o644)
	for i := range 100 {
		w.write(fmt.Sprintf("%s/src/f%d.txt", dir, i), fmt.Sprintln(i), 0o644)
	}
	if !tracked {
		w.write(dir+"/.gitignore", "/ralph/\n", 0o644)
	}
	if repository {
		w.run(dir, "", "sh", "-c", "git init -q -b main && git add -A && git commit -q -m begin")
	}
}

// iterations are the scenes in which an iteration is measured. The agent does
// next to nothing, the only check is true.
var iterations = []struct {
	name       string
	agent      string
	args       string
	repository bool
	tracked    bool
}{
	{name: "prompt", agent: "true", args: "-p hi --check true"},
	{name: "prompt-in-git", agent: "true", args: "-p hi --check true", repository: true},
	{name: "stories-idle", agent: "true", repository: true},
	{name: "stories-commits", agent: "commits", repository: true},
	{name: "stories-commits-tracked-plan", agent: "commits", repository: true, tracked: true},
	{name: "stories-leaves-work", agent: "writes", repository: true},
	{name: "stories-apart-idle", agent: "true", args: "--worktree", repository: true},
	{name: "stories-apart-commits", agent: "commits", args: "--worktree", repository: true},
}

// BenchmarkIteration tells what an iteration costs beyond its agent and its
// checks. Runs of two lengths are compared, so that what a run costs once is
// left out.
func BenchmarkIteration(b *testing.B) {
	const many = 30
	w := newWorkshop(b)
	w.write("bin/writes", "#!/bin/sh\necho x >> src/f1.txt\n", 0o755)
	w.write("bin/commits", "#!/bin/sh\necho x >> src/f1.txt; git commit -qam work\n", 0o755)
	w.write("loop", `i=0; while [ $i -lt $1 ]; do $2 < prompt >> log; sh -c true >> log 2>&1; i=$((i+1)); done`, 0o644)
	for _, scene := range iterations {
		b.Run(scene.name, func(b *testing.B) {
			w := &workshop{b, w.dir}
			var s sample
			for i := 0; b.Loop(); i++ {
				bare, ours := fmt.Sprintf("%s-%d-bare", scene.name, i), fmt.Sprintf("%s-%d", scene.name, i)
				w.project(bare, scene.repository, scene.tracked)
				w.project(ours, scene.repository, scene.tracked)
				w.write(bare+"/prompt", "hi", 0o644)
				runs := func(n int) used {
					const how = "ralph run --stall-after 0 --max-time 0 --no-sandbox"
					return w.run(ours, "", "sh", "-c", fmt.Sprintf("exec %s -m %d --agent-command %s %s", how, n, scene.agent, scene.args))
				}
				runs(1) // leaves in a tree what a first run leaves
				short := runs(1)
				shell := w.run(bare, "", "sh", w.path("loop"), fmt.Sprint(many), scene.agent)
				s.add(shell, runs(1+many), short)
			}
			s.report(b, many)
		})
	}
}

// hooks are events as an agent tells them.
var hooks = []struct{ name, input string }{
	{"pre-tool-use", `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"go test ./... && git status"}}`},
	{"post-tool-use", `{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}`},
	{"session-start", `{"hook_event_name":"SessionStart","session_id":"s","source":"startup"}`},
	{"stop", `{"hook_event_name":"Stop","session_id":"s","stop_hook_active":false}`},
}

// BenchmarkHook is a whole hook call, beside a program that does nothing.
func BenchmarkHook(b *testing.B) {
	w := newWorkshop(b)
	w.project("project", true, true)
	for _, hook := range hooks {
		b.Run(hook.name, func(b *testing.B) { w.call(b, hook.input, "hook", hook.name) })
	}
}

// BenchmarkStart is what the program costs before it does anything.
func BenchmarkStart(b *testing.B) {
	w := newWorkshop(b)
	w.project("project", true, true)
	w.call(b, "", "--version")
}

// call measures one call of the program in a project.
func (w *workshop) call(b *testing.B, stdin string, args ...string) {
	b.Helper()
	const pairs = 10
	w = &workshop{b, w.dir}
	var s sample
	for b.Loop() {
		for range pairs {
			bare := w.run("project", stdin, "true")
			s.add(bare, w.run("project", stdin, append([]string{"ralph"}, args...)...), used{})
		}
	}
	s.report(b, 1)
}

// floods are what agents print a lot of: lines of their protocol, whose most
// are what tools said.
var floods = []struct {
	name   string
	lines  int // of each answer of a tool
	agent  string
	pieces int // of 64 MiB
}{
	{"tool-output-1GiB", 1200, "--agent claude", 16},
	{"lines-of-1KB-1GiB", 10, "--agent claude", 16},
	{"lines-of-100MB-1GiB", 1_200_000, "--agent claude", 10},
	{"short-lines-128MiB", 1, "--agent claude", 2},
	{"plain-text-1GiB", 0, "--agent-command claude", 16},
}

// BenchmarkStream is an agent that prints so much, beside a pipe to cat. Short
// lines are many: millions in a gigabyte, as no agent prints them.
func BenchmarkStream(b *testing.B) {
	w := newWorkshop(b)
	w.write("bin/claude", "#!/bin/sh\ncase \"$1\" in --version) echo 2.1.328; exit;; esac\n"+
		"i=0; while [ $i -lt $(cat "+w.path("count")+") ]; do cat "+w.path("piece")+"; i=$((i+1)); done; cat "+w.path("end")+
		"; grep VmHWM /proc/$PPID/status > "+w.path("peak")+"\n", 0o755)
	w.write("end", `{"type":"result","subtype":"success","is_error":false,"result":"done","total_cost_usd":0.01,"usage":{"input_tokens":1,"output_tokens":1}}`+"\n", 0o644)
	for _, flood := range floods {
		b.Run(flood.name, func(b *testing.B) {
			w := &workshop{b, w.dir}
			w.write("piece", piece(flood.lines), 0o644)
			var s sample
			var memory []float64
			for i := 0; b.Loop(); i++ {
				dir := fmt.Sprintf("%s-%d", flood.name, i)
				w.project(dir, false, false)
				ralph := func(pieces int) (used, float64) {
					w.write("count", fmt.Sprint(pieces), 0o644)
					u := w.run(dir, "", "sh", "-c", "exec ralph run -p hi -m 1 --no-sandbox --max-cost 0 --check true "+flood.agent)
					return u, w.peak()
				}
				little, start := ralph(0)
				much, peak := ralph(flood.pieces)
				pipe := w.run(dir, "", "sh", "-c", "claude < /dev/null | cat > /dev/null")
				s.add(pipe, much, little)
				memory = append(memory, peak-start)
				if err := os.RemoveAll(w.path(dir)); err != nil {
					b.Fatal(err)
				}
			}
			s.report(b, 1)
			b.ReportMetric(slices.Max(memory), "MiB-above-start")
		})
	}
}

// peak returns the largest memory use of the agent's parent, in MiB.
func (w *workshop) peak() float64 {
	w.Helper()
	text, err := os.ReadFile(w.path("peak"))
	if err != nil {
		w.Fatal(err)
	}
	var kib float64
	if _, err := fmt.Sscanf(string(text), "VmHWM: %f kB", &kib); err != nil {
		w.Fatal(err)
	}
	return kib / 1024
}

// piece is 64 MiB of what an agent prints, or one line that is longer.
func piece(lines int) string {
	const source = `\t\tif err := store.Put(ctx, \"key\", value); err != nil { return err } // so much of it\n`
	words := strings.Repeat(source, min(lines, 10))
	turn := `{"type":"assistant","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use",` +
		`"id":"t","name":"Read","input":{"file_path":"main.go","content":"` + words + `"}}],"usage":{"input_tokens":1,"output_tokens":1}},"session_id":"s"}` + "\n" +
		`{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":"` +
		strings.Repeat(source, lines) + `"}]},"session_id":"s"}` + "\n" +
		`{"type":"assistant","message":{"id":"n","type":"message","role":"assistant","model":"m","content":[{"type":"text",` +
		`"text":"` + words + `"}],"usage":{"input_tokens":1,"output_tokens":1}},"session_id":"s"}` + "\n"
	if lines == 0 {
		turn = "compiling package number one of very many that there are\n"
	}
	return strings.Repeat(turn, max(64<<20/len(turn), 1))
}
