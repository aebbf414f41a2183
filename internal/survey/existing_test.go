package survey_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/survey"
)

func TestReadExisting(t *testing.T) {
	const copilot, ci = ".github/workflows/copilot-setup-steps.yml", ".github/workflows/ci.yml"
	job := func(steps string) string { return "jobs:\n  copilot-setup-steps:\n    steps:\n" + steps }
	node := survey.Block{YAML: "- uses: actions/setup-node@v4\n", From: ci}
	options := func(run string) []string {
		return []string{copilot + `: the run step "` + run + `" is left out: only one line without expressions and options can be a setup command`}
	}
	for name, test := range map[string]struct {
		copilot, ci string
		want        survey.Existing
	}{
		"nothing":            {"", "", survey.Existing{}},
		"one line":           {job("    - run: |\n        npm ci\n"), "", survey.Existing{Setup: []survey.Command{{Command: "npm ci", From: copilot}}}},
		"two lines":          {job("    - run: |\n        a\n        b\n"), "", survey.Existing{Ignored: options("a")}},
		"an expression":      {job("    - run: a ${{ github.sha }}\n"), "", survey.Existing{Ignored: options("a ${{ github.sha }}")}},
		"a condition":        {job("    - run: a\n      if: always()\n"), "", survey.Existing{Ignored: options("a")}},
		"another folder":     {job("    - run: a\n      working-directory: b\n"), "", survey.Existing{Ignored: options("a")}},
		"another shell":      {"defaults: {run: {shell: zsh}}\n" + job("    - run: a\n"), "", survey.Existing{Ignored: options("a")}},
		"a line break in it": {job("    - run: \"a\\u2028b\"\n"), "", survey.Existing{Ignored: options(`a\u2028b`)}},
		"no steps":           {"jobs:\n  other: {steps: [{run: a}]}\n", "", survey.Existing{}},
		"another form":       {"[]", "jobs: 3", survey.Existing{Ignored: []string{copilot + " is ignored: not a readable workflow", ci + " is ignored: not a readable workflow"}}},
		"tools of CI":        {"", "jobs: {a: {steps: [{uses: actions/setup-node@v4}, {run: npm test}]}}", survey.Existing{Steps: node}},
		"tools of no tests":  {"", "jobs: {a: {steps: [{uses: actions/setup-node@v4}, {run: latest}]}}", survey.Existing{}},
		"tools of both":      {job("    - uses: astral-sh/setup-uv@v6\n"), "jobs: {a: {steps: [{uses: actions/setup-node@v4}, {run: npm test}]}}", survey.Existing{Steps: survey.Block{YAML: "- uses: astral-sh/setup-uv@v6\n", From: copilot}}},
		"a matrix": {"", "jobs: {a: {steps: [{uses: actions/setup-node@v4, with: {node-version: '${{ matrix.node }}'}}, {run: npm test}]}}", survey.Existing{
			Ignored: []string{ci + ": the step actions/setup-node@v4 is left out: it has an expression or a condition"},
		}},
		"other actions": {"", "jobs: {a: {steps: [{uses: ./setup-node}, {uses: a/b@v1}, {uses: 'a/setup-b@v1 #x'}, {run: make test}]}}", survey.Existing{}},
		"a service": {"", "jobs: {a: {services: {db: {image: postgres, ports: ['6000:5432/tcp']}}, steps: [{run: make test}]}}", survey.Existing{
			Services: survey.Block{YAML: "services:\n  db:\n    image: postgres\n    ports:\n      - 6000:5432/tcp\n", From: ci}, Ports: []string{"6000"},
		}},
		"a secret service": {"", "jobs: {a: {services: {db: {image: postgres, env: {A: '${{ secrets.A }}'}, ports: ['1:1']}}, steps: [{run: make test}]}}", survey.Existing{
			Ignored: []string{ci + ": the service db is left out: it has an expression, or no fixed port as in 5432:5432"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{}
			if test.copilot != "" {
				files[copilot] = test.copilot
			}
			if test.ci != "" {
				files[ci] = test.ci
			}
			got := survey.ReadExisting(survey.Source{
				List: func(string) []string { return []string{"ci.yml", "copilot-setup-steps.yml", "ralph.yml", "notes.md"} },
				Read: func(name string) []byte {
					if text, is := files[name]; is {
						return []byte(text)
					}
					return nil
				},
			})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
