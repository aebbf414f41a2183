package main_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/testsupport/modeltest"
)

// agentKey is what the model server must get, and what must not be written
// down.
const agentKey = "sk-a-key-of-the-real-tests-51d0"

// realAgent is a CLI as npm puts it into tools/agents.
type realAgent struct {
	model     string
	key, base string            // the variables from which a laptop's ralph takes key and server
	home      map[string]string // files of its user's; SERVER stands for the server
	blind     bool              // it never says what it uses
}

var realAgents = map[string]realAgent{
	"claude":  {model: "claude-sonnet-4-6", key: "ANTHROPIC_API_KEY", base: "ANTHROPIC_BASE_URL"},
	"codex":   {model: "gpt-6.2-sol", key: "CODEX_API_KEY", base: "OPENAI_BASE_URL"},
	"copilot": {model: "gpt-5.1", key: "COPILOT_PROVIDER_API_KEY", base: "COPILOT_PROVIDER_BASE_URL", blind: true},
	"gemini": {
		model: "gemini-2.5-pro", key: "GEMINI_API_KEY", base: "GOOGLE_GEMINI_BASE_URL", blind: true,
		home: map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`},
	},
	"opencode": {
		model: "anthropic/claude-sonnet-4-5", key: "ANTHROPIC_API_KEY", base: "UNUSED", blind: true,
		home: map[string]string{".config/opencode/opencode.json": `{"provider":{"anthropic":{"options":{"baseURL":"SERVER/v1"}}}}`},
	},
}

// laptop is a person's machine with a project on it and a real agent.
type laptop struct {
	realAgent
	t      *testing.T
	dir    string // of all of it
	server *modeltest.Server
	env    []string
	argv   []string
	said   *os.File
}

// eachAgent runs a test with every real CLI. Like those of internal/agent/agent,
// these do nothing until AGENTS is set, as `make agents` does.
func eachAgent(t *testing.T, settings string, test func(l *laptop), script ...modeltest.Answer) {
	t.Helper()
	if os.Getenv("AGENTS") == "" {
		return
	}
	for name := range realAgents {
		t.Run(name, func(t *testing.T) { test(newLaptop(t, name, settings, script)) })
	}
}

func newLaptop(t *testing.T, name, settings string, script []modeltest.Answer) *laptop {
	t.Helper()
	l := &laptop{t: t, dir: t.TempDir(), server: modeltest.Start(t, script...)}
	l.realAgent = realAgents[name]
	program, err := filepath.Abs("../../tools/agents/node_modules/.bin/" + name)
	if err == nil {
		err = write(l.path("work", ".ralph", "settings.json"), []byte(settings))
	}
	if err == nil {
		err = errors.Join(os.MkdirAll(l.path("home"), 0o755), os.MkdirAll(l.path("tmp"), 0o755))
	}
	for file, text := range l.home {
		err = errors.Join(err, write(l.path("home", file), []byte(strings.ReplaceAll(text, "SERVER", l.server.URL))))
	}
	if err == nil {
		l.said, err = os.Create(l.path("said"))
	}
	if err != nil {
		t.Fatal(err)
	}
	l.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + l.path("home"), "TMPDIR=" + l.path("tmp"), "LANG=C.UTF-8", quickExit, unconfined,
		l.key + "=" + agentKey, l.base + "=" + l.server.URL,
	}
	l.argv = []string{"run", "-p", "Write hello.txt, as the real tests ask.", "--agent", name, "--agent-command", "'" + program + "'", "--model", l.model}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("ralph said:\n%s", l.text())
		}
		_ = l.said.Close()
	})
	return l
}

func (l *laptop) path(parts ...string) string {
	return filepath.Join(append([]string{l.dir}, parts...)...)
}

// text returns what ralph has printed so far.
func (l *laptop) text() string {
	text, _ := os.ReadFile(l.said.Name())
	return string(text)
}

// start lets ralph run there.
func (l *laptop) start(more ...string) *exec.Cmd {
	l.t.Helper()
	cmd := exec.CommandContext(l.t.Context(), "ralph", append(l.argv, more...)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = l.path("work"), l.env, l.said, l.said
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	return cmd
}

// ended returns the agent's runs in the journal.
func (l *laptop) ended() (all []journal.AgentEnded) {
	l.t.Helper()
	paths, _ := filepath.Glob(l.path("work", ".ralph", "runs", "*", "journal.jsonl"))
	if len(paths) != 1 {
		l.t.Fatalf("journals %q, want one", paths)
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		l.t.Fatal(err)
	}
	entries, _, err := journal.Replay(data)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, entry := range entries {
		if event, is := entry.Event.(journal.AgentEnded); is {
			all = append(all, event)
		}
	}
	return all
}

// A refused key costs one request, and one for opencode's title, however often the program would try again.
func TestAgentsWithARefusedKey(t *testing.T) {
	eachAgent(t, "{}", func(l *laptop) {
		err := l.start("--sandbox=namespace").Wait()
		exit, is := errors.AsType[*exec.ExitError](err)
		if !is || exit.ExitCode() != 2 {
			l.t.Errorf("ralph ended with %v, want exit code 2", err)
		}
		if text := l.text(); !strings.Contains(text, "refuses the key, status 401: invalid x-api-key") {
			l.t.Error("it does not say that the key is refused")
		}
		if requests := len(l.server.Requests()); requests < 1 || requests > 2 {
			l.t.Errorf("%d requests came, want one, or two", requests)
		}
		l.quiet()
	}, modeltest.Answer{Status: 401, Times: modeltest.Always})
}

// quiet fails where ralph printed the key or wrote it down.
func (l *laptop) quiet() {
	l.t.Helper()
	paths := []string{l.said.Name()}
	err := filepath.WalkDir(l.path("work"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, path := range paths {
		if data, err := os.ReadFile(path); err != nil || bytes.Contains(data, []byte(agentKey)) {
			l.t.Errorf("%s holds the key, or cannot be read: %v", path, err)
		}
	}
}

// until waits for what must come, and gives how long it took. A CLI that asks
// the world about models first, and gets no answer, takes its time.
func (l *laptop) until(what string, is func() bool) time.Duration {
	l.t.Helper()
	began := time.Now()
	deadline, tick := time.NewTimer(3*patience), time.NewTicker(10*time.Millisecond)
	defer deadline.Stop()
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-deadline.C:
			l.t.Fatalf("waited in vain until %s; living: %q", what, living(l.dir))
		}
	}
	return time.Since(began)
}

const guarded = `{"guardrails":[{"command":"grep -q hi hello.txt","failAction":"APPEND","hint":"It has to say hi."}]}`

// A prompt and a guardrail: a claim without work is not enough, what the
// guardrail said reaches the model, and the second answer settles it.
func TestAgentsRun(t *testing.T) {
	eachAgent(t, guarded, func(l *laptop) {
		t := l.t
		if err := l.start("-m", "3").Wait(); err != nil {
			t.Fatal(err)
		}
		ended := l.ended()
		if len(ended) != 2 {
			t.Fatalf("the agent ran %d times, want 2: %+v", len(ended), ended)
		}
		first, second := ended[0], ended[1]
		if first.Failed || first.Tools != 0 || first.Response != "DONE" {
			t.Errorf("at first: %+v", first)
		}
		if second.Failed || second.Tools != 1 || second.Response != "done" || second.Words != "Now it does. <response>done</response>" {
			t.Errorf("then: %+v", second)
		}
		if !l.blind && (first.Usage.Input != 1000 || second.Usage.Output != 160 || !second.Cost.Known || second.Cost.USD <= 0) {
			t.Errorf("it used %+v, then %+v for %+v", first.Usage, second.Usage, second.Cost)
		}
		work := l.server.Work()
		if len(work) != 3 || work[0].Key() != agentKey || work[2].Key() != agentKey {
			t.Fatalf("%d requests came, want 3 with the key", len(work))
		}
		if strings.Contains(work[0].Body, "It has to say hi.") || !strings.Contains(work[1].Body, "It has to say hi.") {
			t.Error("the guardrail's hint did not reach the model, or came too soon")
		}
		l.quiet()
	},
		modeltest.Answer{Words: "It is there. <response>DONE</response>"},
		modeltest.Answer{Calls: []modeltest.Call{modeltest.Shell("echo hi > hello.txt")}},
		modeltest.Answer{Words: "Now it does. <response>done</response>"})
}

// A key that is refused ends the run: the next iteration would fare no better.
func TestAgentsRefused(t *testing.T) {
	eachAgent(t, `{}`, func(l *laptop) {
		if l.base == "UNUSED" { // ralph's model server does not see what it is refused
			return
		}
		cmd := l.start("-m", "5", "--sandbox=namespace")
		_ = cmd.Wait()
		ended := l.ended()
		if code := cmd.ProcessState.ExitCode(); code != 2 || len(ended) != 1 || !ended[0].CannotRun {
			l.t.Errorf("exit %d after %+v, want 2 after one that cannot run", code, ended)
		}
		l.quiet()
	}, modeltest.Answer{Status: 403, Times: modeltest.Always})
}

// A limit of dollars ends each of them within its turn in a sandbox: its key is ralph's model server's.
func TestAgentsAreCounted(t *testing.T) {
	eachAgent(t, `{}`, func(l *laptop) {
		if l.base == "UNUSED" { // ralph's model server does not see its requests
			return
		}
		cmd := l.start("--sandbox=namespace", "--max-cost", "1", "--iteration-timeout", "2m")
		_ = cmd.Wait()
		ended := l.ended()
		if code := cmd.ProcessState.ExitCode(); code != 1 || len(ended) != 1 || !ended[0].Overspent || ended[0].TimedOut {
			l.t.Errorf("exit %d after %+v, want 1 after one that has overspent", code, ended)
		}
		if n := len(l.server.Work()); n < 2 || n > 12 {
			l.t.Errorf("%d requests came, of which a few cost a dollar", n)
		}
		if !strings.Contains(l.text(), "stopped, out of budget") {
			l.t.Error("the run did not end for its budget")
		}
		l.t.Logf("measured: %s: %d requests, %+v", l.model, len(l.server.Work()), ended)
		l.quiet()
	}, modeltest.Answer{Calls: []modeltest.Call{modeltest.Shell("echo again")}, Usage: stream.Usage{Input: 300_000, Output: 1000}, Times: modeltest.Always})
}

// deafTool ignores requests to end, and so do its children, one of which is an
// orphan.
const deafTool = `trap '' TERM INT HUP
sleep 601 &
(setsid nohup sleep 602 >/dev/null 2>&1 &)
touch started
while :; do sleep 1; done`

// No matter what ends ralph in the middle of such a tool, no process of it is left
// soon after.
func TestAgentsAreGone(t *testing.T) {
	const soon = 6 * time.Second // the grace, and one
	for name, way := range map[string]struct {
		settings string
		signals  []os.Signal
		code     int
		soon     time.Duration
	}{
		"its time is up":     {settings: `{"agent":{"timeout":40}}`, code: 1, soon: 40*time.Second + soon},
		"stopped, then now":  {settings: `{}`, signals: []os.Signal{syscall.SIGTERM, syscall.SIGTERM}, code: 130, soon: soon},
		"interrupted, twice": {settings: `{}`, signals: []os.Signal{os.Interrupt, os.Interrupt}, code: 130, soon: soon},
		"killed":             {settings: `{}`, signals: []os.Signal{os.Kill}, code: -1, soon: soon},
	} {
		t.Run(name, func(t *testing.T) {
			eachAgent(t, way.settings, func(l *laptop) {
				if way.signals == nil {
					l.t.Parallel() // each has to wait
				}
				cmd := l.start("-m", "1")
				l.until("the tool is at work", func() bool {
					_, err := os.Stat(l.path("work", "started"))
					return err == nil
				})
				for i, sig := range way.signals {
					if i > 0 { // two of a kind at once would arrive as one
						l.until("it says that it was asked to end", func() bool { return strings.Contains(l.text(), "Received signal") })
					}
					if err := cmd.Process.Signal(sig); err != nil {
						l.t.Fatal(err)
					}
				}
				gone := make(chan error, 1)
				go func() { gone <- cmd.Wait() }()
				took := l.until("all processes ended", func() bool { return len(living(l.dir)) == 0 })
				<-gone
				if code := cmd.ProcessState.ExitCode(); code != way.code || took > way.soon {
					l.t.Errorf("exit %d, all gone after %v; want %d within %v", code, took, way.code, way.soon)
				}
				l.t.Logf("measured: all gone after %d ms", took.Milliseconds())
			},
				modeltest.Answer{Calls: []modeltest.Call{modeltest.Shell(deafTool)}},
				modeltest.Answer{Stall: true, Times: modeltest.Always})
		})
	}
}
