package config_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/entry/config"
)

// The workflow in docs/checks.md gives checks the variables and services that the page names.
func TestTheChecksPageShowsAWorkflow(t *testing.T) {
	_, text, _ := strings.Cut(page(t, "../../../docs/checks.md"), "```yaml\nname: ralph\n")
	text, _, _ = strings.Cut(text, "```\n")
	given, err := config.InputsOfWorkflow([]byte(strings.ReplaceAll(text, "${{ secrets.STRIPE_TEST_KEY }}", "sk-of-a-test")))
	if err != nil {
		t.Fatal(err)
	}
	in, err := config.ReadInputs(func(name string) string { return given[name] })
	if err != nil {
		t.Fatal(err)
	}
	settings, err := config.ReadSettings(config.File{Name: "settings.json", Data: []byte(`{"checkEnv": ["DATABASE_URL=of-the-base", "COLOUR=blue"], "services": ["6379"]}`)})
	if err != nil {
		t.Fatal(err)
	}
	settings.ApplyToInputs(&in)
	want := confine.Needs{
		Services: []egress.Name{{Host: "postgres", Port: 5432}},
		Env:      []string{"DATABASE_URL=of-the-base", "COLOUR=blue", "DATABASE_URL=postgres://postgres:only-for-tests@127.0.0.1:5432/postgres"}, // the last one counts
		Secrets:  []string{"STRIPE_TEST_KEY=sk-of-a-test"},
	}
	if diff := cmp.Diff(want, in.Needs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// InputsOfWorkflow returns the literal inputs of ralph's step.
func TestInputsOfAWorkflow(t *testing.T) {
	for name, c := range map[string]struct {
		steps string
		want  map[string]string
	}{
		"ours": {
			"{uses: ralph-loop/ralph@v1, with: {checks: \"make test\\nmake lint\\n\", check-timeout: 5, draft: true, setup: ~, prompt: \"${{ inputs.prompt }}\"}}",
			map[string]string{"checks": "make test\nmake lint\n", "check-timeout": "5", "draft": "true"},
		},
		"on the machine":   {"{uses: ralph-loop/ralph/host@v1, with: {checks: a}}", map[string]string{"checks": "a"}},
		"a mirror's image": {"{uses: \"docker://here.example/ralph@sha256:1\", with: {checks: a}}", map[string]string{"checks": "a"}},
		"another's":        {"{uses: somebody/notralph@v1, with: {checks: a}}", map[string]string{}},
		"the one that works": {
			"{uses: ralph-loop/ralph@v1}, {uses: ralph-loop/ralph@v1, with: {checks: a, setup: b}}, {uses: ralph-loop/ralph@v1, with: {checks: c}}",
			map[string]string{"checks": "a", "setup": "b"},
		},
	} {
		got, err := config.InputsOfWorkflow([]byte("jobs:\n  ralph:\n    steps: [" + c.steps + "]\n"))
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s (-want +got): %v\n%s", name, err, diff)
		}
	}
	for name, text := range map[string]string{"no YAML": "jobs: [", "too large": strings.Repeat("#", 80<<10)} {
		if _, err := config.InputsOfWorkflow([]byte(text)); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

func page(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
