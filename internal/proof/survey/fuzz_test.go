package survey_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/goccy/go-yaml"

	"github.com/ralph-loop/ralph/internal/proof/survey"
)

// FuzzProject holds that each command that is proposed is one line, which a person can read.
func FuzzProject(f *testing.F) {
	f.Add("on: push\njobs:\n  test:\n    env: {A: b}\n    services: {db: {image: postgres, ports: ['5432:5432']}}\n    steps:\n    - uses: actions/checkout@v4\n    - uses: actions/setup-go@v5\n      with: {go-version: 1.26}\n    - run: |\n        corepack enable\n        npm ci\n        npm test\n",
		`{"scripts":{"test":"jest","lint":"a\nb"},"workspaces":["packages/*","../up","a\u2028b"]}`, "packages: ['x/*', '!y']", "use (\n./a // x\n\"./b c\"\n)")
	f.Add("a: &a [x, x]\nb: &b [*a, *a]\njobs: {test: {env: {A: *b}, steps: [{run: go test}]}}", `{"workspaces":{"packages":[7]},"scripts":[]}`, "packages: {a: b}", "use ./\x00")
	f.Add("jobs:\n  ? [a]\n  : {steps: [{run: \"pytest\\u2028x; ${{ secrets.A }}\"}]}", "[", "- &x", "use")
	f.Fuzz(func(t *testing.T, workflow, pack, spaces, work string) {
		files := map[string]string{".github/workflows/ci.yml": workflow, "package.json": pack, "pnpm-workspace.yaml": spaces, "go.work": work, "packages/a/package.json": pack}
		readable(t, files)
		survey.CI(of(files))
	})
}

// readable holds what is proposed to be lines that a person can read.
func readable(t *testing.T, files map[string]string) {
	t.Helper()
	p := survey.Propose(of(files))
	for _, command := range append(p.Setup, p.Checks...) {
		if strings.ContainsFunc(command.Command, func(r rune) bool { return !unicode.IsPrint(r) && r != '\t' }) {
			t.Errorf("%q is proposed", command.Command)
		}
	}
	for _, step := range p.Steps {
		var steps []map[string]any
		err := yaml.Unmarshal([]byte(step.YAML), &steps)
		for _, one := range steps {
			run, _ := one["run"].(string)
			if _, uses := one["uses"].(string); uses == (run != "") || strings.ContainsFunc(run, func(r rune) bool { return !unicode.IsPrint(r) && r != '\t' }) {
				t.Errorf("the step %q", one)
			}
		}
		if err != nil {
			t.Errorf("the steps %q: %v", step.YAML, err)
		}
	}
}
