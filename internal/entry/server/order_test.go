package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

func TestWhatGitHubRefusesIsToldWithWhatToDo(t *testing.T) {
	const start, installed = "/repos/acme/shop/actions/workflows/ralph.yml/dispatches", "/repos/acme/shop/installation"
	for name, c := range map[string]struct {
		fault githubtest.Fault
		fix   string
	}{
		"no workflow":     {githubtest.Fault{Method: "POST", Path: start, Status: 404}, "add .github/workflows/ralph.yml to the default branch"},
		"no permission":   {githubtest.Fault{Method: "POST", Path: start, Status: 403, Body: `{"message":"Resource not accessible by integration"}`}, "`actions: write`"},
		"not for the App": {githubtest.Fault{Method: "GET", Path: installed, Status: 404}, "install the App on acme/shop"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.Inject(c.fault)
			v := s.serve(s.server())
			v.deliver(guid(1), s.label("ralph"), http.StatusAccepted)
			v.stop()
			if log := v.log.String(); !strings.Contains(log, `"level":"ERROR","msg":"cannot start a job"`) || !strings.Contains(log, c.fix) {
				t.Errorf("the log does not tell what to do:\n%s", log)
			}
		})
	}
}
