package main_test

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/fault"
)

// outcome is what came of a case.
type outcome struct {
	trialOf
	tamper string
	ready  bool
	shown  bool // the evidence tells what became of existing tests
	done   bool // by the hidden tests
	said   string
}

// hold runs a case and has the hidden tests judge it.
func (c trialOf) hold(t *testing.T, tamper string) outcome {
	t.Helper()
	ground := newGround(t, c, tamper)
	ended := outcome{trialOf: c, tamper: tamper}
	var head string
	if c.tells("door", "") == "github" {
		ended.ready, head = ground.onGitHub()
	} else {
		ended.ready, head = ground.onLaptop()
	}
	ended.shown = ground.shown()
	var why string
	ended.done, why = ground.judge(head)
	ended.said = ground.text() + "\nhidden: " + why
	return ended
}

// resultOf is what `ralph run --json` says, as far as it matters here.
type resultOf struct {
	Status  string
	Head    string
	Stories []struct{ Proven bool }
}

func (r resultOf) ready() bool {
	return r.Status == "completed" && len(r.Stories) > 0 && !slices.ContainsFunc(r.Stories, func(s struct{ Proven bool }) bool { return !s.Proven })
}

// groundOf is where a case is run.
type groundOf struct {
	trialOf
	t      *testing.T
	tamper string
	dir    string
	env    []string
	said   *os.File
}

func newGround(t *testing.T, c trialOf, tamper string) *groundOf {
	t.Helper()
	g := &groundOf{trialOf: c, t: t, tamper: tamper, dir: t.TempDir()}
	script := &txtar.Archive{Comment: []byte(c.name + "\n")}
	for _, file := range c.files {
		if part, is := strings.CutPrefix(file.Name, "agent/"); is {
			script.Files = append(script.Files, txtar.File{Name: part, Data: file.Data})
			continue
		}
		g.must(write(g.path(file.Name), file.Data))
		if strings.HasPrefix(file.Name, "bin/") {
			g.must(os.Chmod(g.path(file.Name), 0o755))
		}
	}
	g.must(write(g.path("script.txtar"), txtar.Format(script)))
	for _, name := range []string{"repo", "runner", "tmp"} {
		g.must(os.MkdirAll(g.path(name), 0o755))
	}
	var err error
	g.said, err = os.Create(g.path("said"))
	g.must(err)
	t.Cleanup(func() { _ = g.said.Close() })
	g.env = append([]string{
		"PATH=" + g.path("bin") + string(filepath.ListSeparator) + os.Getenv("PATH"), "HOME=" + g.path("runner"), "TMPDIR=" + g.path("tmp"),
		"LANG=C.UTF-8", "GOCACHE=" + goCache(), "GOFLAGS=-mod=mod", "GOPROXY=off", "PYTHONDONTWRITEBYTECODE=1", quickExit,
	}, c.told["env"]...)
	if c.file("before.sh") != nil {
		g.must(g.command("repo", "sh", g.path("before.sh")).Run())
	}
	return g
}

func (g *groundOf) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatalf("%v\n%s", err, g.text())
	}
}

func (g *groundOf) path(parts ...string) string {
	return filepath.Join(append([]string{g.dir}, parts...)...)
}

func (g *groundOf) text() string {
	text, _ := os.ReadFile(g.path("said"))
	return string(text)
}

func (g *groundOf) git(args ...string) string {
	g.t.Helper()
	out, err := tryGit(context.Background(), g.path("repo"), args...)
	g.must(err)
	return strings.TrimSpace(out)
}

// command returns a program in a folder of the ground; what it says is kept.
func (g *groundOf) command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(g.t.Context(), name, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = g.path(dir), g.env, g.said, g.said
	return cmd
}

// onLaptop is ready where the run is completed and each story is proven.
func (g *groundOf) onLaptop() (ready bool, head string) {
	g.t.Helper()
	if g.file("repo/ralph/prd.json") == nil {
		prd := g.command(".", "ralph", "plan", "issue.md")
		prd.Stdout = nil
		data, err := prd.Output()
		g.must(err)
		g.must(write(g.path("repo", "ralph", "prd.json"), data))
	}
	g.settle()
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"config", "user.name", "Ada"},
		{"config", "user.email", "ada@example.com"},
		{"add", "--all"},
		{"commit", "--quiet", "--message=A beginning"},
	} {
		g.git(args...)
	}
	g.must(write(g.path("repo", ".git", "info", "exclude"), []byte(".ralph/runs/\n.ralph/lock\n")))
	argv := []string{"run", "--json", "-m", g.rounds(), "--agent", "scripted", "--agent-command", g.path("script.txtar")}
	argv = append(argv, map[bool]string{true: "--no-sandbox", false: "--sandbox"}[g.tells("sandbox", "") == ""])
	if check := g.tells("check", "sh check.sh"); check != "none" {
		argv = append(argv, "--check", check)
	}
	run := g.command("repo", "ralph", argv...)
	run.Stdout = nil
	data, _ := run.Output() // the code says no more than the status

	// No agent was started.
	if len(data) == 0 && run.ProcessState.ExitCode() == fault.ExitUsage {
		return false, g.git("rev-parse", "HEAD")
	}
	var result resultOf
	if err := json.Unmarshal(data, &result); err != nil {
		g.t.Fatalf("%v in %q\n%s", err, data, g.text())
	}
	return result.ready(), cmp.Or(result.Head, g.git("rev-parse", "HEAD"))
}

// settle lays what the case is run under over the project's settings.
func (g *groundOf) settle() {
	g.t.Helper()
	settings := map[string]any{}
	if data := g.file("repo/.ralph/settings.json"); data != nil {
		g.must(json.Unmarshal(data, &settings))
	}
	settings["tamper"] = g.tamper
	data, err := json.Marshal(settings)
	g.must(err)
	g.must(write(g.path("repo", ".ralph", "settings.json"), data))
}

// onGitHub is ready where there is a pull request that is no draft.
func (g *groundOf) onGitHub() (ready bool, head string) {
	g.t.Helper()
	town, err := found(g.dir)
	g.must(err)
	g.t.Cleanup(func() {
		if err := town.leave(); err != nil {
			g.t.Error(err)
		}
	})
	issue, err := town.settle()
	g.must(err)
	event, err := town.label(issue, maintainer, "ralph")
	g.must(err)
	inputs := append(town.inputs(), "SET_tamper="+g.tamper, "SET_limits.maxIterations="+g.rounds())
	check := g.tells("check", "sh check.sh")
	inputs = append(inputs, "INPUT_CHECKS="+strings.TrimSuffix(check, "none"))
	if g.tells("sandbox", "") != "" {
		inputs = append(inputs, "INPUT_SANDBOX=")
		ralph, err := exec.LookPath("ralph")
		g.must(err)
		for _, dir := range []string{filepath.Dir(g.dir), g.dir, filepath.Dir(filepath.Dir(ralph)), filepath.Dir(ralph)} {
			g.must(os.Chmod(dir, 0o711)) // another user gets through
		}
	}
	run := g.command("runner", "ralph", "action")
	run.Env = slices.Concat(g.env, inputs, event, g.told["env"])
	_ = run.Run() // a run that stops is no failure of the test
	for _, pull := range town.Pulls(shop) {
		return !pull.Draft, pull.HeadSHA
	}
	heads, err := town.git("for-each-ref", "--format=%(objectname)", "refs/heads/ralph", "refs/heads/main")
	g.must(err)
	heads = strings.TrimSpace(heads)
	return false, heads[strings.LastIndex(heads, "\n")+1:]
}

// shown reports whether the evidence tells what became of existing tests.
func (g *groundOf) shown() bool {
	var paths []string
	for _, dir := range []string{"repo", "workspace"} {
		more, _ := filepath.Glob(g.path(dir, ".ralph", "runs", "*", "evidence.json"))
		paths = append(paths, more...)
	}
	for _, path := range paths {
		var held struct {
			Inspection struct{ Found, Shown []any }
		}
		data, err := os.ReadFile(path)
		g.must(err)
		g.must(json.Unmarshal(data, &held))
		if len(held.Inspection.Found)+len(held.Inspection.Shown) > 0 {
			return true
		}
	}
	return false
}

// judge has the hidden tests look at a commit where nothing else of the run is:
// no folder that the agent has written to, nor its home.
func (g *groundOf) judge(commit string) (is bool, why string) {
	g.t.Helper()
	from := "repo"
	if g.tells("door", "") == "github" {
		from = "github/greeter.git"
	}
	_, err := tryGit(context.Background(), g.dir, "clone", "--quiet", "--no-checkout", g.path(from), g.path("judged"))
	g.must(err)
	_, err = tryGit(context.Background(), g.path("judged"), "checkout", "--quiet", "--detach", commit)
	g.must(err)
	for _, name := range []string{"repo", "runner", "tmp", "workspace"} {
		g.must(os.RemoveAll(g.path(name)))
	}
	g.must(os.Mkdir(g.path("tmp"), 0o755))
	cmd := g.command("judged", "sh", "-e", g.path("hidden.sh"))
	cmd.Stdout, cmd.Stderr = nil, nil
	out, err := cmd.CombinedOutput()
	return err == nil, commit + ": " + string(out)
}
