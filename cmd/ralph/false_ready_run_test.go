package main_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// run runs a case, and then the hidden tests.
func (c falseReadyCase) run(t *testing.T) outcome {
	t.Helper()
	p := newCaseProject(t, c)
	ready, head := p.run()
	got := outcome{ready: ready, result: p.result()}
	done, output := p.runHidden(head)
	got.done, got.output = done, p.text()+"\nhidden tests at "+head+":\n"+output
	return got
}

// caseProject is where a case runs.
type caseProject struct {
	falseReadyCase

	t      *testing.T
	dir    string
	env    []string
	output *os.File
}

func newCaseProject(t *testing.T, c falseReadyCase) *caseProject {
	t.Helper()
	p := &caseProject{falseReadyCase: c, t: t, dir: t.TempDir()}
	script := &txtar.Archive{Comment: []byte(c.name + "\n")}
	for _, file := range c.files {
		if name, ok := strings.CutPrefix(file.Name, "agent/"); ok {
			script.Files = append(script.Files, txtar.File{Name: name, Data: file.Data})
			continue
		}
		p.must(write(p.path(file.Name), file.Data))
		if strings.HasPrefix(file.Name, "bin/") {
			p.must(os.Chmod(p.path(file.Name), 0o755))
		}
	}
	p.must(write(p.path("script.txtar"), txtar.Format(script)))
	for _, name := range []string{"repo", "runner", "tmp"} {
		p.must(os.MkdirAll(p.path(name), 0o755))
	}
	var err error
	p.output, err = os.Create(p.path("output"))
	p.must(err)
	t.Cleanup(func() { _ = p.output.Close() })
	p.env = append([]string{
		"PATH=" + p.path("bin") + string(filepath.ListSeparator) + os.Getenv("PATH"), "HOME=" + p.path("runner"), "TMPDIR=" + p.path("tmp"),
		"LANG=C.UTF-8", "GOCACHE=" + goCache(), "GOFLAGS=-mod=mod", "GOPROXY=off", "PYTHONDONTWRITEBYTECODE=1", quickExit,
	}, c.options["env"]...)
	if c.file("before.sh") != nil {
		p.must(p.command("repo", "sh", p.path("before.sh")).Run())
	}
	return p
}

func (p *caseProject) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("%v\n%s", err, p.text())
	}
}

func (p *caseProject) path(parts ...string) string {
	return filepath.Join(append([]string{p.dir}, parts...)...)
}

func (p *caseProject) text() string {
	text, _ := os.ReadFile(p.path("output"))
	return string(text)
}

func (p *caseProject) git(args ...string) string {
	p.t.Helper()
	out, err := tryGit(context.Background(), p.path("repo"), args...)
	p.must(err)
	return strings.TrimSpace(out)
}

// command returns a program in a folder of the project; its output is kept.
func (p *caseProject) command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(p.t.Context(), name, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.path(dir), p.env, p.output, p.output
	return cmd
}

// run lets the agent work, and returns whether its work is ready.
func (p *caseProject) run() (ready bool, head string) {
	p.t.Helper()
	if p.onGitHub() {
		return p.runOnGitHub()
	}
	return p.runOnLaptop()
}

// runOnLaptop is ready if the run is completed, and each story and the whole change are proven.
func (p *caseProject) runOnLaptop() (ready bool, head string) {
	p.t.Helper()
	if p.file("repo/ralph/prd.json") == nil {
		prd := p.command(".", "ralph", "plan", "issue.md")
		prd.Stdout = nil
		data, err := prd.Output()
		p.must(err)
		p.must(write(p.path("repo", "ralph", "prd.json"), data))
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"config", "user.name", "Ada"},
		{"config", "user.email", "ada@example.com"},
		{"add", "--all"},
		{"commit", "--quiet", "--message=A beginning"},
	} {
		p.git(args...)
	}
	p.must(write(p.path("repo", ".git", "info", "exclude"), []byte(".ralph/runs/\n.ralph/lock\n")))
	args := []string{"run", "--json", "-m", p.rounds(), "--agent", "scripted", "--agent-command", p.path("script.txtar")}
	sandbox := "--no-sandbox"
	if p.option("sandbox", "") != "" {
		sandbox = "--sandbox"
	}
	args = append(args, sandbox)
	if check := p.option("check", "sh check.sh"); check != "none" {
		args = append(args, "--check", check)
	}
	run := p.command("repo", "ralph", args...)
	run.Stdout = nil
	data, _ := run.Output() // the status says more than the exit code
	if len(data) == 0 && run.ProcessState.ExitCode() == fault.ExitUsage {
		return false, p.git("rev-parse", "HEAD") // no agent was started
	}
	var result struct {
		Status policy.Status
		Head   string
	}
	if err := json.Unmarshal(data, &result); err != nil {
		p.t.Fatalf("%v in %q\n%s", err, data, p.text())
	}
	ready = result.Status == policy.StatusCompleted && verdict.IsWorkProven(p.journal())
	if _, err := tryGit(context.Background(), p.path("repo"), "cat-file", "-e", result.Head+"^{commit}"); err != nil {
		return ready, p.git("rev-parse", "HEAD") // it was not delivered
	}
	return ready, result.Head
}

// runOnGitHub is ready if there is a pull request that is no draft.
func (p *caseProject) runOnGitHub() (ready bool, head string) {
	p.t.Helper()
	hub, err := newGitHub(p.dir)
	p.must(err)
	p.t.Cleanup(func() {
		if err := hub.finished(); err != nil {
			p.t.Error(err)
		}
	})
	issue, err := hub.publishProject()
	p.must(err)
	event, err := hub.label(issue, maintainer, "ralph")
	p.must(err)
	check := p.option("check", "sh check.sh")
	inputs := append(hub.inputs(), "SET_limits.maxIterations="+p.rounds(), "INPUT_CHECKS="+strings.TrimSuffix(check, "none"))
	if p.option("sandbox", "") != "" {
		inputs = append(inputs, "INPUT_SANDBOX=")
		ralph, err := exec.LookPath("ralph")
		p.must(err)
		for _, dir := range []string{filepath.Dir(p.dir), p.dir, filepath.Dir(filepath.Dir(ralph)), filepath.Dir(ralph)} {
			p.must(os.Chmod(dir, 0o711)) // another user gets through
		}
	}
	run := p.command("runner", "ralph", "action")
	run.Env = slices.Concat(p.env, inputs, event, p.options["env"])
	_ = run.Run() // a run that stops is no failure of the test
	for _, pull := range hub.Pulls(shop) {
		return !pull.Draft, pull.HeadSHA
	}
	heads, err := hub.git("for-each-ref", "--format=%(objectname)", "refs/heads/ralph", "refs/heads/main")
	p.must(err)
	heads = strings.TrimSpace(heads)
	return false, heads[strings.LastIndex(heads, "\n")+1:]
}

// entries returns the journal of the run. It is empty if no agent was started.
func (p *caseProject) entries() (all []journal.Entry) {
	p.t.Helper()
	for _, dir := range []string{"repo", "workspace"} {
		paths, _ := filepath.Glob(p.path(dir, ".ralph", "runs", "*", "journal.jsonl"))
		for _, path := range paths {
			data, err := os.ReadFile(path)
			p.must(err)
			entries, _, err := journal.Replay(data)
			p.must(err)
			all = append(all, entries...)
		}
	}
	return all
}

func (p *caseProject) journal() (run journal.Run) {
	p.t.Helper()
	for _, entry := range p.entries() {
		run = journal.Fold(run, entry)
	}
	return run
}

// result returns the result of the newest proof, or "none".
func (p *caseProject) result() string {
	p.t.Helper()
	proofs := p.journal().Proofs
	if len(proofs) == 0 {
		return "none"
	}
	return string(proofs[len(proofs)-1].Result)
}

// runHidden runs the hidden tests on a commit where nothing else of the run is:
// no folder that the agent has written to, nor its home.
func (p *caseProject) runHidden(commit string) (passed bool, output string) {
	p.t.Helper()
	from := "repo"
	if p.onGitHub() {
		from = "github/greeter.git"
	}
	_, err := tryGit(context.Background(), p.dir, "clone", "--quiet", "--no-checkout", p.path(from), p.path("hidden"))
	p.must(err)
	_, err = tryGit(context.Background(), p.path("hidden"), "checkout", "--quiet", "--detach", commit)
	p.must(err)
	for _, name := range []string{"repo", "runner", "tmp", "workspace"} {
		p.must(os.RemoveAll(p.path(name)))
	}
	p.must(os.Mkdir(p.path("tmp"), 0o755))
	cmd := p.command("hidden", "sh", "-e", p.path("hidden.sh"))
	cmd.Stdout, cmd.Stderr = nil, nil
	out, err := cmd.CombinedOutput()
	return err == nil, string(out)
}
