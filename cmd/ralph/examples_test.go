package main_test

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

// toolStandIn is npm, go, cargo and python3 for an example: it installs nothing, and
// its tests are those of the demo's project.
const toolStandIn = `#!/bin/sh
[ "$1" != -C ] || { cd "$2" && shift 2; } || exit 1
case "$*" in
"-m venv .venv") mkdir -p .venv/bin && cp "$0" .venv/bin/pip && cp "$0" .venv/bin/python ;;
install* | *--workspace*) ;;
*test*) exec sh check.sh ;;
esac
`

// shownSettings finds the settings file that a comment shows.
var shownSettings = regexp.MustCompile(`# (\{.*\})`)

var workedOut = regexp.MustCompile(`\$\{\{[^}]*\}\}`)

// Every example makes a pull request with its own inputs, on the simulated GitHub. Only
// the agent is scripted, its tools are stand-ins, and no sandbox is set up.
func TestExamplesMakeAPullRequest(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../examples/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d examples: %v", len(files), err)
	}
	for _, file := range files {
		if !short.Has(filepath.Base(file)) {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(file), ".yml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given, err := config.InputsOfWorkflow([]byte(workedOut.ReplaceAllString(readFile(t, file), "placeholder")))
			if err != nil {
				t.Fatal(err)
			}
			if given["mode"] != "" { // it opens none: init-proof.txtar runs it
				return
			}
			s := newScene(t, func(s *scene) { s.adapt(name, given) })
			s.stepOf(given)
			if file := given["config"]; file != "" {
				settings := shownSettings.FindStringSubmatch(readFile(t, filepath.Join("../../examples", name+".yml")))
				if err := write(s.path("overlay", file), []byte(settings[1])); err != nil {
					t.Fatal(err)
				}
			}
			s.exampleRuns(name)
		})
	}
}

// workflowInputs FILE sets the inputs that a workflow gives ralph's step.
func workflowInputs(ts *testscript.TestScript, _ bool, args []string) {
	text, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	given, err := config.InputsOfWorkflow(text)
	ts.Check(err)
	delete(given, "ralph") // says where the program comes from
	for name, value := range given {
		ts.Setenv("INPUT_"+strings.ToUpper(name), value)
	}
}

// adapt gives an example what it needs beside the demo's project.
func (s *scene) adapt(name string, given map[string]string) {
	s.t.Helper()
	switch name {
	case "app":
		s.AddApp(githubtest.App{
			ID: 7, Slug: "ralph", Owner: "octo", Key: &githubtest.Key().PublicKey, Installation: 70, Repos: []string{shop}, Permissions: githubtest.WriteAll(),
		})
		given["app-id"], given["app-private-key"] = "7", githubtest.PEM(githubtest.Key())
	case "monorepo":
		s.moveTo("api")
	case "services":
		var config net.ListenConfig
		listener, err := config.Listen(s.t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { _ = listener.Close() })
		_, port, _ := net.SplitHostPort(listener.Addr().String())
		given["services"] = strings.Replace(given["services"], "5432", port, 1)
	}
	for _, tool := range []string{"npm", "go", "cargo", "python3"} {
		if err := write(s.path("tools", tool), []byte(toolStandIn)); err != nil {
			s.t.Fatal(err)
		}
		if err := os.Chmod(s.path("tools", tool), 0o755); err != nil {
			s.t.Fatal(err)
		}
	}
}

// stepOf is the environment of ralph's step with these inputs, and with the defaults of
// the others.
func (s *scene) stepOf(given map[string]string) {
	s.t.Helper()
	s.env = slices.DeleteFunc(s.env, func(variable string) bool {
		return strings.HasPrefix(variable, "INPUT_") || strings.HasPrefix(variable, "SET_")
	})
	all := map[string]string{}
	for name, input := range offeredBy(s.t, "../../action.yml").Inputs {
		all[name] = input.Default
	}
	maps.Copy(all, given)
	delete(all, "ralph") // says where the program comes from
	maps.Copy(all, map[string]string{
		"agent": "scripted", "agent-version": "", "anthropic-api-key": "", "sandbox": "none",
	})
	all["github-token"] = token
	if given["app-id"] != "" {
		all["github-token"] = ""
	}
	for name, value := range all {
		s.env = append(s.env, "INPUT_"+strings.ToUpper(name)+"="+value)
	}
	s.env = append(s.env, "PATH="+s.path("tools")+":"+os.Getenv("PATH"))
}

// exampleRuns starts the work as the example's own trigger does.
func (s *scene) exampleRuns(name string) {
	s.t.Helper()
	if name == "schedule" {
		payload := fmt.Sprintf(`{"schedule": "17 4 * * 1", "repository": {"full_name": %q, "name": "greeter", "owner": {"login": "octo"}, "default_branch": "main"}}`, shop)
		s.begins(s.job("schedule", maintainer, []byte(payload)))
		if pulls := s.Pulls(shop); len(pulls) != 1 {
			s.t.Errorf("pull requests %+v, want one", pulls)
		}
		return
	}
	s.begins(nil, nil)
	if name == "plan-approval" {
		if pulls := s.Pulls(shop); len(pulls) != 0 {
			s.t.Errorf("pull requests %+v before the approval", pulls)
		}
		s.ahead.Add(int64(2 * time.Second)) // an approval in the second of the plan is not believed
		v := visitOf{town: s.town, issue: s.issue}
		comment := s.AddComment(shop, githubtest.Comment{Issue: s.issue, Author: maintainer, Body: "/ralph approve"}).ID
		s.begins(v.told(maintainer, func(e githubtest.Event) ([]byte, error) { return s.CommentEvent(e, comment) }))
	}
	if pulls := s.Pulls(shop); len(pulls) != 1 || pulls[0].Draft {
		s.t.Errorf("pull requests %+v, want one that is ready", pulls)
	}
}

// begins runs a job for an event to its end.
func (s *scene) begins(event []string, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	if code := s.end(s.begin(event...)); code != 0 {
		s.t.Errorf("exit %d, want 0", code)
	}
}

// moveTo has the project of the demo, and what its agent does, in a folder of the repository.
func (s *scene) moveTo(folder string) {
	s.t.Helper()
	script := strings.ReplaceAll(readFile(s.t, s.path("script.txtar")), "/write/", "/write/"+folder+"/")
	if err := errors.Join(os.Mkdir(s.path("repo", folder), 0o755), write(s.path("script.txtar"), []byte(script))); err != nil {
		s.t.Fatal(err)
	}
	for _, args := range [][]string{
		{"mv", "check.sh", "greet.sh", "tests", folder}, {"commit", "--quiet", "--message=Move"}, {"push", "--quiet", s.bare(), "main"},
	} {
		if _, err := tryGit(s.t.Context(), s.path("repo"), args...); err != nil {
			s.t.Fatal(err)
		}
	}
}
