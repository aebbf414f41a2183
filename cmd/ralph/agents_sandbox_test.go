package main_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/testsupport/modeltest"
)

// The real CLIs do a whole iteration behind the sandbox, at both levels: their
// tool runs inside, the key is the model server's alone, and what they ask for
// beside the model they do not get, and their user's home stays as it was.
func TestAgentsBehindTheSandbox(t *testing.T) {
	for _, level := range []string{"namespace", "notify"} {
		t.Run(level, func(t *testing.T) {
			eachAgent(t, `{"sandbox": {"allowDomains": []}}`, func(l *laptop) {
				if err := write(l.path("work", "show.sh"), []byte("env | grep _KEY")); err != nil {
					l.t.Fatal(err)
				}
				home := l.userHome()
				if err := l.start("-m", "2", "--sandbox="+level, "--json").Wait(); err != nil {
					l.t.Error(err)
				}
				if diff := cmp.Diff(home, l.userHome()); diff != "" {
					l.t.Errorf("its user's home (-before +after):\n%s", diff)
				}
				text, err := os.ReadFile(l.path("work", "hello.txt"))
				if err != nil || !strings.Contains(string(text), "hi") {
					l.t.Errorf("the tool left %q, %v", text, err)
				}
				given := strings.Contains(string(text), "ralph-") || strings.HasPrefix(l.key, "COPILOT") // which gives its tools none
				if strings.Contains(string(text), agentKey) || !given {
					l.t.Errorf("inside it had %q, want a token of the sandbox's", text)
				}
				work := l.server.Work()
				if len(work) != 2 || work[0].Key() != agentKey || work[1].Key() != agentKey {
					l.t.Fatalf("%d requests came, want 2 with the key", len(work))
				}
				if !strings.Contains(l.text(), `"sandbox_level": "`+level+`"`) {
					l.t.Error("the level is not in the result")
				}
				if ended := l.ended(); len(ended) != 1 || ended[0].Failed || ended[0].Tools != 1 || ended[0].Response != "DONE" {
					l.t.Errorf("it ended as %+v", ended)
				}
				l.quiet()
			},
				modeltest.Answer{Calls: []modeltest.Call{modeltest.Shell("echo hi > hello.txt; sh show.sh >> hello.txt")}},
				modeltest.Answer{Words: "Done. <response>DONE</response>"})
		})
	}
}

// The same in a job, as another user.
func TestAgentsInTheAction(t *testing.T) {
	if os.Getenv("AGENTS") == "" {
		return
	}
	t.Run("claude", func(t *testing.T) { actWith(t, "claude", "ANTHROPIC", "notify") })
	t.Run("codex", func(t *testing.T) { actWith(t, "codex", "OPENAI", "namespace") })
}

func actWith(t *testing.T, name, input, level string) {
	t.Helper()
	server := modeltest.Start(t,
		modeltest.Answer{Calls: []modeltest.Call{modeltest.Shell("echo hi > hello.txt; id -u >> hello.txt; env >> hello.txt; git add hello.txt; git commit -qm 'feat: hello'")}},
		modeltest.Answer{Words: "Done."})
	hub, issue := reachableGitHub(t)
	said, err := hub.act(t, issue, name, "INPUT_SANDBOX="+level, "INPUT_"+input+"-API-KEY="+agentKey, "INPUT_MODEL-BASE-URL="+server.URL)
	if err != nil {
		t.Errorf("%v\n%s", err, said)
	}
	text, err := hub.git("show", "ralph/issue-1-greet-people-by-name-in-their-language:hello.txt")
	if err != nil || !strings.HasPrefix(text, "hi\n1500\n") || strings.Contains(text, agentKey) || strings.Contains(text, token) {
		t.Errorf("it left %q, %v\n%s", text, err, said)
	}
	for _, request := range server.Work() {
		if request.Key() != agentKey {
			t.Errorf("%s came with the key %q", request.Path, request.Key())
		}
	}
	if len(server.Work()) != 2 {
		t.Errorf("%d requests came, want 2\n%s", len(server.Work()), said)
	}
}

// reachableGitHub returns a GitHub of the test's own with an issue, in a folder that other users
// can pass through.
func reachableGitHub(t *testing.T) (*gitHub, int) {
	t.Helper()
	dir := t.TempDir()
	for _, folder := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(folder, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	place, err := newGitHub(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := place.finished(); err != nil {
			t.Error(err)
		}
	})
	issue, err := place.publishProject()
	if err != nil {
		t.Fatal(err)
	}
	return place, issue
}

// act runs the Action on a labelled issue with a real agent for one iteration.
func (w *gitHub) act(t *testing.T, issue int, name string, inputs ...string) ([]byte, error) {
	t.Helper()
	env, err := w.label(issue, maintainer, "ralph")
	if err != nil {
		t.Fatal(err)
	}
	program, err := filepath.Abs("../../tools/agents/node_modules/.bin/" + name)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "ralph", "action")
	cmd.Env = append(env, "PATH="+os.Getenv("PATH"), "HOME="+w.path("runner"), "INPUT_GITHUB-TOKEN="+token, "INPUT_AGENT="+name,
		"INPUT_CONFIG="+jobSettings, settingsKey+"="+w.path("overlay", jobSettings), "SET_agent.command='"+program+"'", "INPUT_MODEL="+realAgents[name].model, "INPUT_CHECKS=sh check.sh", "SET_limits.maxIterations=1", quickExit)
	cmd.Env = append(cmd.Env, inputs...)
	return cmd.CombinedOutput()
}

// userHome returns the files in the home of the agent's user, with what they hold, but for what ralph
// remembers of its runs, and what opencode notes down when ralph asks it for its plugins.
func (l *laptop) userHome() map[string]string {
	l.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(l.path("home"), func(path string, entry fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, l.path("home")+"/")
		if err != nil || entry.IsDir() || strings.HasPrefix(name, ".local/state/ralph/") || strings.Contains(name, "/opencode/") {
			return err
		}
		text, err := os.ReadFile(path)
		all[name] = string(text)
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return all
}
