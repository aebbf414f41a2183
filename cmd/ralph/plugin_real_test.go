package main_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/testsupport/modeltest"
)

// session is a session of the real Claude Code with the plugin in it.
type session struct {
	*testing.T
	dir    string
	server *modeltest.Server
	env    []string
}

func (p *session) path(parts ...string) string {
	return filepath.Join(append([]string{p.dir}, parts...)...)
}

// plug makes a project for a session; nil where the real tests are not asked
// for, as `make agents` does.
func newSession(t *testing.T, script ...modeltest.Answer) *session {
	t.Helper()
	if os.Getenv("AGENTS") == "" {
		return nil
	}
	p := &session{T: t, dir: t.TempDir(), server: modeltest.Start(t, script...)}
	for _, dir := range []string{"home", "work"} {
		if err := os.Mkdir(p.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.path("home"), "LANG=C.UTF-8", quickExit, unconfined, "IS_SANDBOX=1",
		"ANTHROPIC_API_KEY=" + agentKey, "ANTHROPIC_BASE_URL=" + p.server.URL,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_MAX_RETRIES=1",
	}
	return p
}

func (p *session) claude(stdin string, args ...string) string {
	p.Helper()
	program, err := filepath.Abs("../../tools/agents/node_modules/.bin/claude")
	if err != nil {
		p.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(p.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = p.path("work"), p.env, strings.NewReader(stdin)
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		p.Fatalf("%s: %v\n%s", cmd, err, out.String())
	}
	p.Cleanup(func() {
		if p.Failed() {
			p.Logf("claude said:\n%s", out.String())
		}
	})
	return out.String()
}

// say has one session with the plugin.
func (p *session) say(words string) string {
	p.Helper()
	plugin, err := filepath.Abs("../../plugin")
	if err != nil {
		p.Fatal(err)
	}
	return p.claude(words, "-p", "--output-format", "stream-json", "--verbose", "--model", "claude-sonnet-4-6",
		"--plugin-dir", plugin, "--dangerously-skip-permissions")
}

// run returns what the journal of the only loop amounts to.
func (p *session) run() journal.Run {
	p.Helper()
	paths, err := filepath.Glob(p.path("work", ".ralph", "runs", "*", "journal.jsonl"))
	if err != nil || len(paths) != 1 {
		p.Fatalf("journals %q, %v; want one", paths, err)
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		p.Fatal(err)
	}
	entries, _, err := journal.Replay(data)
	if err != nil {
		p.Fatal(err)
	}
	return journal.Fold(journal.Run{}, entries...)
}

// stopped holds the end of the loop against what it should be.
func (p *session) stopped(reason policy.Reason, iterations int) {
	p.Helper()
	run := p.run()
	if run.Stop == nil || run.Stop.Reason != reason || len(run.Iterations) != iterations {
		p.Errorf("stopped by %+v after %d iterations, want %s after %d", run.Stop, len(run.Iterations), reason, iterations)
	}
	if left := p.server.Left(); left > 0 {
		p.Errorf("%d answers of the script were not asked for", left)
	}
}

// asked tells whether the model was told words in its newest request.
func (p *session) asked(words string) {
	p.Helper()
	work := p.server.Work()
	if len(work) == 0 || !strings.Contains(work[len(work)-1].Body, words) {
		p.Errorf("the model was not told %q", words)
	}
}

func talk(text string) modeltest.Answer { return modeltest.Answer{Words: text} }

var toil = modeltest.Answer{Words: "I write it.", Calls: []modeltest.Call{modeltest.Shell("echo hi > hello.txt")}}

// The five acceptance tests of the loop within a session, by its own plan.
func TestRealLoopInSession(t *testing.T) {
	const loop = "/ralph-loop \"Write hello.txt; don't `ask`\" --max-iterations 2 --completion-promise DONE"
	const kept = "It is there.\n\n<promise>DONE</promise>"
	for name, test := range map[string]struct {
		script     []modeltest.Answer
		reason     policy.Reason
		iterations int
		said, told string
	}{
		"1 stops on promise": {
			[]modeltest.Answer{toil, talk(kept)},
			policy.PromiseAccepted, 1, "PROMISE_ACCEPTED", `Write hello.txt; don't `,
		},
		"2 blocks exit without promise": {
			[]modeltest.Answer{toil, talk("I'm done"), talk(kept)},
			policy.PromiseAccepted, 2, "the promise is missing", "You attempted to end the loop, but you did not output the completion promise",
		},
		"3 max iterations": {
			[]modeltest.Answer{toil, talk("I'm done"), talk("I'm done"), talk("I'm done")},
			policy.MaxIterations, 3, "MAX_ITERATIONS_REACHED", "This is time 2 of 2",
		},
		"4 bypass rejected": {
			[]modeltest.Answer{talk(kept), talk("All done."), toil, talk(kept)},
			policy.PromiseAccepted, 3, "a promise without work was rejected", "Promise detected, but no tool calls/work were performed",
		},
		"5 promise in the final message": {
			[]modeltest.Answer{toil, talk("All done."), talk("```\n<promise>DONE</promise>\n```")},
			policy.PromiseAccepted, 2, "PROMISE_ACCEPTED", "Only output the promise when the task is fully complete",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newSession(t, test.script...)
			if p == nil {
				return
			}
			out := p.say(loop)
			p.stopped(test.reason, test.iterations)
			p.asked(test.told)
			if !strings.Contains(out, test.said) {
				p.Errorf("the person was not told %q", test.said)
			}
		})
	}
}

// Claude Code ends a session by itself at the ninth end that is refused in a
// row. The loop stops at eight, says so, and is gone on with.
func TestRealLoopIsCutOff(t *testing.T) {
	p := newSession(t, slices.Concat(slices.Repeat([]modeltest.Answer{talk("I'm done")}, 9), []modeltest.Answer{toil, talk("<promise>DONE</promise>")})...)
	if p == nil {
		return
	}
	out := p.say("/ulw-loop Write hello.txt --max-iterations 20")
	if run := p.run(); run.Stop == nil || run.Stop.Reason != policy.Waiting || len(run.Iterations) != 9 {
		t.Errorf("stopped by %+v after %d iterations, want waiting after 9", run.Stop, len(run.Iterations))
	}
	p.asked("ULTRAWORK MODE")
	if strings.Contains(out, "overriding and ending turn") || !strings.Contains(out, "/ralph-loop --resume") {
		t.Error("the session was ended by its program, or the way to continue is missing")
	}
	p.say("/ralph-loop --resume")
	p.stopped(policy.PromiseAccepted, 10)
}

// A plugin that was installed from the marketplace has the short names, too.
func TestRealLoopOfAnInstalledPlugin(t *testing.T) {
	p := newSession(t, toil, talk("<promise>DONE</promise>"))
	if p == nil {
		return
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	p.claude("", "plugin", "marketplace", "add", root)
	p.claude("", "plugin", "install", "ralph@ralph")
	p.claude("/ralph-loop Write hello.txt", "-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions")
	p.stopped(policy.PromiseAccepted, 1)
}

// The guard keeps the real program from what is dangerous, and says why.
func TestRealGuard(t *testing.T) {
	danger := modeltest.Answer{Words: "I tidy up.", Calls: []modeltest.Call{modeltest.Shell("rm -rf $HOME/../")}}
	p := newSession(t, danger, talk("Then not."))
	if p == nil {
		return
	}
	p.say("Tidy up.")
	p.asked("instead: ")
	if _, err := os.Stat(p.path("home")); err != nil {
		t.Error(err)
	}
}

// The program's own check of plugin and marketplace has nothing to say.
func TestRealPluginIsValid(t *testing.T) {
	p := newSession(t)
	if p == nil {
		return
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var last []string
	for _, what := range []string{filepath.Join(root, "plugin"), root} {
		lines := strings.Split(strings.TrimSpace(p.claude("", "plugin", "validate", "--strict", what)), "\n")
		last = append(last, lines[len(lines)-1])
	}
	if diff := cmp.Diff([]string{"✔ Validation passed", "✔ Validation passed"}, last); diff != "" {
		t.Errorf("claude plugin validate (-want +got):\n%s", diff)
	}
}
