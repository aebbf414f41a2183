package job_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/must"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/run/job"
)

// What the agent's program says of its user's settings is where the model server
// asks. A server that the agent has to ask itself is the only host that it reaches,
// and is refused where the sandbox does not let it through.
func TestAdopt(t *testing.T) {
	keys := agent.Keys{AnthropicAPIKey: "ant"}
	hosts := []string{"api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com", "models.dev"}
	for name, test := range map[string]struct {
		options string
		want    confine.Model
		err     string
	}{
		"a gateway": {`"baseURL":"http://127.0.0.1:1"`, confine.Model{
			Name: "anthropic/x", Keys: agent.Keys{AnthropicAPIKey: "ant", ModelBaseURL: "http://127.0.0.1:1"}, Hosts: hosts,
		}, ""},
		"a key of its own":           {`"baseURL":"https://a.example/v1","apiKey":"x"`, confine.Model{Name: "anthropic/x", Hosts: []string{"a.example"}}, ""},
		"the same on this machine":   {`"baseURL":"https://localhost/v1","apiKey":"x"`, confine.Model{}, "cannot reach it from inside"},
		"the same without TLS":       {`"baseURL":"http://a.example/v1","apiKey":"x"`, confine.Model{}, "cannot reach it from inside"},
		"the same with a bad server": {`"baseURL":"http://[","apiKey":"x"`, confine.Model{}, "cannot reach it from inside"},
	} {
		dir := t.TempDir()
		program := filepath.Join(dir, "opencode")
		text := `#!/bin/sh
[ "$*" = 'debug config --pure' ] && echo '{"model":"anthropic/x","provider":{"anthropic":{"options":{` + test.options + `}}}}'
`
		must.Do(t, os.WriteFile(program, []byte(text), 0o700))
		c, err := job.Find("opencode", agent.Options{Command: program, Keys: keys}, func(...string) []string { return []string{"PATH=/usr/bin:/bin"} }, dir)
		if err != nil {
			t.Fatal(err)
		}
		err = c.AdoptSettings(t.Context(), confine.Options{Exec: (&process.Runner{}).Run, Home: dir, Path: "/usr/bin:/bin"}, "")
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: %v, want %q", name, err, test.err)
			}
			continue
		}
		test.want.Agent = "opencode"
		if diff := cmp.Diff(test.want, c.FillModel(confine.Model{})); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}
