package main_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// office is a server of which the log is read as it comes.
type office struct {
	t   *testing.T
	cmd *exec.Cmd
	log *bufio.Scanner
	all []string
}

func openOffice(t *testing.T, argv ...string) *office {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "ralph", append([]string{"serve"}, argv...)...)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &office{t: t, cmd: cmd, log: bufio.NewScanner(out)}
}

// said returns a field of the next line that has it.
func (o *office) said(field string) string {
	o.t.Helper()
	for o.log.Scan() {
		o.all = append(o.all, o.log.Text())
		var line map[string]any
		if err := json.Unmarshal(o.log.Bytes(), &line); err != nil {
			o.t.Fatalf("the log has %s (%v)", o.log.Text(), err)
		}
		if value, is := line[field].(string); is {
			return value
		}
	}
	o.t.Fatalf("the log never tells of %s:\n%s", field, strings.Join(o.all, "\n"))
	return ""
}

// close asks the server to stop, and gives the whole of its log.
func (o *office) close() string {
	o.t.Helper()
	if err := o.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		o.t.Fatal(err)
	}
	for o.log.Scan() {
		o.all = append(o.all, o.log.Text())
	}
	if err := o.cmd.Wait(); err != nil {
		o.t.Errorf("it ends with %v:\n%s", err, strings.Join(o.all, "\n"))
	}
	return strings.Join(o.all, "\n")
}

func load(t *testing.T, address string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("it is answered with %s (%v)\n%s", resp.Status, err, page)
	}
	return string(page)
}

// clicks returns the two that make the App: the form's, and GitHub's own.
func (o *office) clicks(town *town, page string) (back string) {
	o.t.Helper()
	found := regexp.MustCompile(`(?s)<form action="([^"]+)".*name="manifest" value="([^"]+)"`).FindStringSubmatch(page)
	if found == nil {
		o.t.Fatalf("the page has no form:\n%s", page)
	}
	to, err := url.Parse(html.UnescapeString(found[1]))
	if err != nil {
		o.t.Fatal(err)
	}
	back, err = town.MakeApp("octo", to.Query().Get("state"), html.UnescapeString(found[2]), shop)
	if err != nil {
		o.t.Fatal(err)
	}
	return back
}

// act runs the job that the server has started, as a runner would.
func act(t *testing.T, town *town, slug string) {
	t.Helper()
	calls := town.Requests()
	at := slices.IndexFunc(calls, func(c githubtest.Call) bool { return strings.HasSuffix(c.Path, "/ralph.yml/dispatches") })
	if at < 0 {
		t.Fatal("no job was started")
	}
	var sent struct{ Inputs map[string]string }
	if err := json.Unmarshal([]byte(calls[at].Body), &sent); err != nil {
		t.Fatal(err)
	}
	payload, err := town.DispatchEvent(githubtest.Event{Repo: shop, Sender: slug + "[bot]"}, sent.Inputs)
	if err != nil {
		t.Fatal(err)
	}
	env, err := town.job("workflow_dispatch", slug+"[bot]", payload)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "ralph", "action")
	cmd.Dir = town.path("workspace")
	cmd.Env = slices.Concat(os.Environ(), env, town.inputs(), []string{"INPUT_ALLOW-BOTS=" + slug})
	said, err := cmd.CombinedOutput()
	if pulls := town.Pulls(shop); err != nil || len(pulls) != 1 || pulls[0].Draft {
		t.Errorf("the job ends with %v, and pull requests %+v:\n%s", err, pulls, said)
	}
}

// TestAServerWithoutAnAppMakesOneAndServesIt goes the whole way: the page, the
// App, its first delivery, the job, and another start with what was kept.
func TestAServerWithoutAnAppMakesOneAndServesIt(t *testing.T) {
	t.Parallel()
	town, issue := labelledTown(t)
	file, reached := filepath.Join(t.TempDir(), "app.json"), freeAddress(t)
	argv := []string{"--app", file, "--url", "http://" + reached, "--listen", reached, "--api-url", town.URL + "/api/v3"}
	o := openOffice(t, argv...)
	load(t, o.clicks(town, load(t, o.said("page"))))
	address := o.said("address") // where the App is served: after the setup
	about, err := os.Stat(file)
	if err != nil || about.Mode() != 0o600 {
		t.Fatalf("the App is kept as %v (%v)", about, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var app struct {
		Slug   string
		Key    string `json:"private_key"`
		Secret string `json:"webhook_secret"`
	}
	if err := json.Unmarshal(text, &app); err != nil || app.Key == "" {
		t.Fatalf("what is kept is %v", err)
	}
	body, err := town.LabelEvent(githubtest.Event{Repo: shop, Issue: issue, Sender: "wes"}, "ralph")
	if err != nil {
		t.Fatal(err)
	}
	deliverTo(t, address, app.Secret, body)
	o.said("delivery")
	if log := o.close(); strings.Contains(log, app.Secret) || strings.Contains(log, "PRIVATE KEY") {
		t.Errorf("the log holds secrets:\n%s", log)
	}
	act(t, town, app.Slug)
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".*")); err != nil || len(left) > 0 {
		t.Errorf("beside the App there is %q (%v)", left, err)
	}
	o = openOffice(t, argv...)
	o.said("address")
	if log := o.close(); strings.Contains(log, "/setup?") {
		t.Errorf("what was kept is not served:\n%s", log)
	}
}

// freeAddress returns an unused one on loopback that stays unused: kernels hand out
// higher ports.
func freeAddress(t *testing.T) string {
	t.Helper()
	var config net.ListenConfig
	for {
		address := fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000))
		l, err := config.Listen(t.Context(), "tcp", address)
		if err == nil {
			_ = l.Close()
			return address
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			t.Fatal(err)
		}
	}
}
