package main_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// mount has a small disk at a folder, or makes the one there larger.
func mount(t *testing.T, options, dir string) bool {
	t.Helper()
	said, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", options, "ralph-test", dir).CombinedOutput()
	if err != nil {
		t.Logf("mount: %v: %s", err, said)
	}
	return err == nil
}

func unmount(t *testing.T, dir string) {
	t.Helper()
	if said, err := exec.Command("umount", "--lazy", dir).CombinedOutput(); err != nil {
		t.Errorf("umount: %v: %s", err, said)
	}
}

func canMount(t *testing.T) bool {
	t.Helper()
	dir := t.TempDir()
	if !mount(t, "size=1M", dir) {
		return false
	}
	unmount(t, dir)
	return true
}

func canConfine(t *testing.T) bool {
	t.Helper()
	try := exec.CommandContext(t.Context(), "ralph", "sandbox", "--", "true")
	try.Dir = t.TempDir()
	return try.Run() == nil
}

// smallDisk has the job work on a disk of 48 MB.
func (o *enduranceRun) smallDisk() {
	dir := o.path("workspace")
	if !mount(o.t, "size=48M", dir) {
		o.t.Fatal("no disk was mounted")
	}
	o.t.Cleanup(func() { unmount(o.t, dir) })
}

// makeRoom makes that disk larger, and removes what filled it.
func (o *enduranceRun) makeRoom() {
	filled, _ := filepath.Glob(o.path("workspace", ".ralph", "runs", "*", "work", "tree", "fill"))
	for _, path := range filled {
		if err := os.Remove(path); err != nil {
			o.t.Fatal(err)
		}
	}
	if !mount(o.t, "remount,size=1G", o.path("workspace")) {
		o.t.Fatal("the disk was not made larger")
	}
}

// kill kills the processes of the run whose command begins so.
func (o *enduranceRun) kill(command string) {
	killed := 0
	for _, process := range living(o.dir) {
		pid, argv, _ := strings.Cut(process, " ")
		number, _ := strconv.Atoi(pid)
		if strings.HasPrefix(argv, command) && syscall.Kill(number, syscall.SIGKILL) == nil {
			killed++
		}
	}
	if killed == 0 {
		o.t.Errorf("no process %q was found in %q", command, living(o.dir))
	}
}

// second starts another job for the same event, and waits until it has declined.
func (o *enduranceRun) second(workspace string) {
	o.SetWorkflowRun(shop, githubtest.WorkflowRun{ID: 2, Status: "in_progress"})
	if err := write(o.path(workspace, "x"), nil); err != nil {
		o.t.Fatal(err)
	}
	l := o.start(nil, "GITHUB_RUN_ID=2", "GITHUB_WORKSPACE="+o.path(workspace))
	_ = l.Wait()
	said, err := os.ReadFile(l.log)
	if code := l.ProcessState.ExitCode(); err != nil || code != 0 || !strings.Contains(string(said), "not started: ") {
		o.t.Errorf("the second job ends with %d, %v, want that it does not start:\n%s", code, err, said)
	}
}

const savedBase = "refs/heads/as-it-was"

// rewriteBase force-pushes to the base a history of its own.
func (o *enduranceRun) rewriteBase() {
	o.must("update-ref", savedBase, "main")
	o.must("update-ref", "refs/heads/main", o.must("commit-tree", "-m", "by hand", "main^{tree}"))
}

func (o *enduranceRun) restoreBase() { o.must("update-ref", "refs/heads/main", savedBase) }

func (o *enduranceRun) state(state string) {
	o.EditIssue(shop, o.issue, func(i *githubtest.Issue) { i.State = state })
}

// archive has GitHub refuse all that would change the repository.
func (o *enduranceRun) archive() {
	isGit := func(r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, "/git-receive-pack") || r.URL.Query().Get("service") == "git-receive-pack"
	}
	push := githubtest.Fault{
		Times: always, Match: isGit, Status: http.StatusForbidden, Header: http.Header{"Content-Type": {"text/plain"}},
		Body: "This repository was archived so it is read-only.",
	}
	call := githubtest.ServerError(http.StatusForbidden)
	call.Times, call.Body = always, `{"message":"Repository was archived so is read-only.","status":"403"}`
	call.Match = func(r *http.Request) bool {
		return r.Method != http.MethodGet && !strings.Contains(r.URL.Path, ".git/")
	}
	o.Inject(push)
	o.Inject(call)
}

// disconnect has the next requests to GitHub get no answer.
func (o *enduranceRun) disconnect() {
	var left atomic.Int32
	left.Store(40)
	o.visit(func(*http.Request) {
		if left.Add(-1) >= 0 {
			panic(http.ErrAbortHandler)
		}
	})
}
