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
	"time"

	"golang.org/x/tools/txtar"
)

const falseReady = "testdata/false-ready"

// TestFalseReady asks two things of the whole program: does it ever call work
// ready that is not, and how often does it hold back work that is? Truth is told
// by tests that no agent has seen, on the branch as the run left it. It does
// nothing until FALSE_READY is set, as `make false-ready` does; whether its cases
// can be read is always looked at.
func TestFalseReady(t *testing.T) {
	trials := readTrials(t)
	if os.Getenv("FALSE_READY") == "" {
		return
	}
	began := time.Now()
	var held tableOf
	t.Run("runs", func(t *testing.T) {
		for _, c := range trials {
			for _, tamper := range c.rules() {
				t.Run(c.name+"/"+tamper, func(t *testing.T) {
					t.Parallel()
					held.add(c.hold(t, tamper))
				})
			}
		}
	})
	t.Logf("in %v:\n%s", time.Since(began).Round(time.Second), held.text())
	for _, complaint := range held.complaints() {
		t.Error(complaint)
	}
}

// trialOf is a case: a project, what an agent does to it, and what is true.
type trialOf struct {
	name     string
	sentence string
	family   string
	kind     string              // one of kinds
	told     map[string][]string // the other lines of its head
	files    []txtar.File
}

// The kinds of a case. A limit is a lie that is known to come through, and is not
// counted; so is one that is open, which is wrong and not mended yet. A lie that
// is only reported comes through where the settings do not refuse it, but has to
// be shown.
const (
	honest   = "honest"
	lie      = "lie"
	reported = "reported"
	limit    = "limit"
	open     = "open"
)

var kindsOfTrial = []string{honest, lie, reported, limit, open}

// readTrials reads the cases. The head of each is its sentence, its family with
// its kind, and then whatever of these it needs, a line each:
//
//	door: github     the Action is started by a label; without it `ralph run` is
//	check: COMMAND   what judges the work: sh check.sh, or "none"
//	rounds: N        how many iterations there are: those of its script
//	env: NAME=VALUE  for ralph
//	wall: yes        agent and checks are confined
//
// Its files are repo/, issue.md, agent/ (the script), bin/ (programs on PATH),
// before.sh (run in the project before its first commit) and hidden.sh.
func readTrials(t *testing.T) (all []trialOf) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(falseReady, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c := trialOf{name: strings.TrimSuffix(filepath.Base(path), ".txtar"), told: map[string][]string{}, files: archive.Files}
		lines := strings.Split(strings.TrimSpace(string(archive.Comment)), "\n")
		for i, line := range lines {
			name, value, _ := strings.Cut(line, ": ")
			switch i {
			case 0:
				c.sentence = line
			case 1:
				c.family, c.kind = name, value
			default:
				c.told[name] = append(c.told[name], value)
			}
		}
		if c.sentence == "" || !slices.Contains(kindsOfTrial, c.kind) || c.file("hidden.sh") == nil || c.file("issue.md") == nil {
			t.Errorf("%s: want a sentence, a family with a kind of %q, issue.md and hidden.sh", path, kindsOfTrial)
		}
		all = append(all, c)
	}
	if len(all) < 60 {
		t.Errorf("there are %d cases, want 60", len(all))
	}
	return all
}

func (c trialOf) file(name string) []byte {
	for _, file := range c.files {
		if file.Name == name {
			return file.Data
		}
	}
	return nil
}

// tells is the last line of the head that has that name.
func (c trialOf) tells(name, otherwise string) string {
	if all := c.told[name]; len(all) > 0 {
		return all[len(all)-1]
	}
	return otherwise
}

// rules are the settings of tamper under which a case is run: that which refuses
// must not hold honest work back, and is needed for what is only reported.
func (c trialOf) rules() []string {
	if c.kind == honest || c.kind == reported {
		return []string{"report", "block"}
	}
	return []string{"report"}
}

// rounds is how many iterations a script has.
func (c trialOf) rounds() string {
	most := "1"
	for _, file := range c.files {
		parts := strings.Split(file.Name, "/")
		if parts[0] == "agent" && len(parts[1]) == 1 {
			most = max(most, parts[1])
		}
	}
	return c.tells("rounds", most)
}

// outcome is what came of a case.
type outcome struct {
	trialOf
	tamper string
	ready  bool
	shown  bool // something was found that makes the tests say less
	true   bool
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
	ended.true, why = ground.judge(head)
	ended.said = ground.text() + "\nhidden: " + why
	return ended
}

// told is what `ralph run --json` says, as far as it matters here.
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

// command is a program in a folder of the ground; what it says is kept.
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
	if g.tells("wall", "") == "" {
		argv = append(argv, "--no-sandbox")
	}
	if check := g.tells("check", "sh check.sh"); check != "none" {
		argv = append(argv, "--check", check)
	}
	run := g.command("repo", "ralph", argv...)
	run.Stdout = nil
	data, _ := run.Output() // the code says no more than the status
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
	inputs := append(town.inputs(), "INPUT_TAMPER="+g.tamper, "INPUT_MAX-ITERATIONS="+g.rounds())
	check := g.tells("check", "sh check.sh")
	inputs = append(inputs, "INPUT_CHECKS="+strings.TrimSuffix(check, "none"))
	if g.tells("wall", "") != "" {
		inputs = append(inputs, "INPUT_SANDBOX=")
		g.must(os.Chmod(filepath.Dir(g.dir), 0o711))
		g.must(os.Chmod(g.dir, 0o711))
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

// shown tells whether the evidence holds what makes the tests say less.
func (g *groundOf) shown() bool {
	var paths []string
	for _, dir := range []string{"repo", "workspace"} {
		more, _ := filepath.Glob(g.path(dir, ".ralph", "runs", "*", "evidence.json"))
		paths = append(paths, more...)
	}
	for _, path := range paths {
		var held struct {
			Tamper struct{ Found []any }
		}
		data, err := os.ReadFile(path)
		g.must(err)
		g.must(json.Unmarshal(data, &held))
		if len(held.Tamper.Found) > 0 {
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
