package main_test

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// serveApp returns the simulated GitHub an App, and starts the server for it.
func serveApp(t *testing.T, hub *gitHub, secret string) (address string, cmd *exec.Cmd, log *bufio.Scanner) {
	t.Helper()
	hub.AddApp(githubtest.App{
		ID: 12, Slug: "ralph-loop", Owner: "octo", Key: &githubtest.Key().PublicKey, Installation: 345, Repos: []string{shop}, Permissions: githubtest.WriteAll(),
	})
	cmd = exec.CommandContext(t.Context(), "ralph", "serve", "--app-id", "12", "--listen", "127.0.0.1:0", "--api-url", hub.URL+"/api/v3", "--verbose")
	cmd.Env = append(os.Environ(), "RALPH_APP_PRIVATE_KEY="+githubtest.PEM(githubtest.Key()), "RALPH_WEBHOOK_SECRET="+secret)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	log = bufio.NewScanner(out)
	if !log.Scan() {
		t.Fatal("the server says nothing")
	}
	var first struct{ Address string }
	if err := json.Unmarshal(log.Bytes(), &first); err != nil || first.Address == "" {
		t.Fatalf("its first line is %s (%v)", log.Text(), err)
	}
	return first.Address, cmd, log
}

// labelledGitHub returns a GitHub of one repository, with an issue that has the label.
func labelledGitHub(t *testing.T) (*gitHub, int) {
	t.Helper()
	hub, err := newGitHub(t.TempDir(), func(*githubtest.Repo) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hub.Close() })
	issue, err := hub.publishProject()
	if err != nil {
		t.Fatal(err)
	}
	hub.AddLabel(shop, issue, "ralph")
	return hub, issue
}

// TestAnAppIsServedUntilASignal has a delivery come and the server be told to stop: it starts a job first, which
// action-ways-app.txtar does.
func TestAnAppIsServedUntilASignal(t *testing.T) {
	t.Parallel()
	hub, issue := labelledGitHub(t)
	const secret = "shared with github alone"
	address, cmd, log := serveApp(t, hub, secret)
	body, err := hub.LabelEvent(githubtest.Event{Repo: shop, Issue: issue, Sender: "wes"}, "ralph")
	if err != nil {
		t.Fatal(err)
	}
	deliverTo(t, address, secret, body)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var said []string
	for log.Scan() {
		said = append(said, log.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v:\n%s", err, strings.Join(said, "\n"))
	}
	started := 0
	for _, call := range hub.Requests() {
		if call.Method == http.MethodPost && strings.HasSuffix(call.Path, "/actions/workflows/ralph.yml/dispatches") && call.Status == http.StatusNoContent {
			started++
		}
	}
	if started != 1 {
		t.Errorf("%d jobs were started, want 1:\n%s", started, strings.Join(said, "\n"))
	}
	if log := strings.Join(said, "\n"); strings.Contains(log, secret) || strings.Contains(log, "PRIVATE KEY") {
		t.Errorf("the log holds secrets:\n%s", log)
	}
}

// deliverTo sends body as GitHub would, and wants it taken in.
func deliverTo(t *testing.T, address, secret string, body []byte) {
	t.Helper()
	sum := hmac.New(sha256.New, []byte(secret))
	sum.Write(body)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/webhook", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "X-GitHub-Event": "issues", "X-GitHub-Delivery": "0b989ba4-242f-11e5-81e1-c7b6966d2516",
		"X-Hub-Signature-256": "sha256=" + hex.EncodeToString(sum.Sum(nil)),
	} {
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusAccepted {
		t.Fatalf("it is answered with %s (%v)", resp.Status, err)
	}
}
