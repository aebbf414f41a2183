package survey_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/proof/survey"
)

const (
	copilotFile = ".github/workflows/copilot-setup-steps.yml"
	ciFile      = ".github/workflows/ci.yml"
)

func leftOut(run string) []string {
	return []string{copilotFile + `: the run step "` + run + `" is left out: only commands without expressions, conditions and variables of the job can be taken`}
}

func from(file string, lines ...string) (all []survey.Command) {
	for _, line := range lines {
		all = append(all, survey.Command{Command: line, From: file})
	}
	return all
}

func TestProposeFromWorkflows(t *testing.T) {
	job := func(steps string) string { return "jobs:\n  copilot-setup-steps:\n    steps:\n" + steps }
	test := func(steps string) string { return "jobs: {a: {steps: [" + steps + "]}}" }
	node := []survey.Block{{YAML: "- uses: actions/setup-node@v4\n", From: ciFile}}
	tests := from(ciFile, "make test")
	for name, test := range map[string]struct {
		copilot, ci string
		want        survey.Proposal
	}{
		"nothing":            {"", "", survey.Proposal{}},
		"one line":           {job("    - run: |\n        npm ci\n"), "", survey.Proposal{Setup: from(copilotFile, "npm ci")}},
		"two lines":          {job("    - run: |\n        a # why\n        b\n"), "", survey.Proposal{Setup: from(copilotFile, "a", "b")}},
		"its own folder":     {job("    - run: |\n        cd x && export A=b\n        npm ci\n"), "", survey.Proposal{Setup: from(copilotFile, "cd x && export A=b && npm ci")}},
		"another folder":     {job("    - run: a\n      working-directory: b\n"), "", survey.Proposal{Setup: from(copilotFile, "cd b && a")}},
		"a folder of words":  {job("    - run: a\n      working-directory: b;c\n"), "", survey.Proposal{Ignored: leftOut("a")}},
		"a loop":             {job("    - run: |\n        for a in b; do c; done\n"), "", survey.Proposal{Ignored: leftOut("for a in b; do c; done")}},
		"an or":              {job("    - run: a || b\n"), "", survey.Proposal{Setup: from(copilotFile, "a || b")}},
		"an if":              {job("    - run: |\n        cd x\n        if [ -f a ]; then\n          b # why\n          c\n        else d; fi\n"), "", survey.Proposal{Setup: from(copilotFile, "cd x && if [ -f a ]; then b; c; else d; fi")}},
		"an if that stays":   {job("    - run: if a; then cd b; fi\n    - run: if c; then exit; fi\n    - run: if d; then E=f; fi\n"), "", survey.Proposal{Ignored: slices.Concat(leftOut("if a; then cd b; fi"), leftOut("if c; then exit; fi"), leftOut("if d; then E=f; fi"))}},
		"a document":         {job("    - run: |\n        a <<b\n        c\n        b\n"), "", survey.Proposal{Ignored: leftOut("a <<b")}},
		"text of two lines":  {job("    - run: |\n        a 'b\n        ${ {c'\n"), "", survey.Proposal{Ignored: leftOut("a 'b")}},
		"an expression":      {job("    - run: a ${{ github.sha }}\n"), "", survey.Proposal{Ignored: leftOut("a ${{ github.sha }}")}},
		"a condition":        {job("    - run: a\n      if: always()\n"), "", survey.Proposal{Ignored: leftOut("a")}},
		"another shell":      {"defaults: {run: {shell: zsh}}\n" + job("    - run: a\n"), "", survey.Proposal{Ignored: leftOut("a")}},
		"bash":               {"defaults: {run: {shell: bash, working-directory: b}}\n" + job("    - run: a\n"), "", survey.Proposal{Setup: from(copilotFile, "cd b && a")}},
		"a line break in it": {job("    - run: \"a\\u2028b\"\n"), "", survey.Proposal{Ignored: leftOut(`a\u2028b`)}},
		"a joined one":       {job("    - run: \"a '$\\\\\\n{{ b }}'; c \\\"$\\\\\\n{{ b }}\\\"\"\n"), "", survey.Proposal{Ignored: leftOut(`a '$\\`)}},
		"no steps":           {"jobs:\n  other: {steps: [{run: a}]}\n", "", survey.Proposal{}},
		"another form":       {"[]", "jobs: 3", survey.Proposal{Ignored: []string{copilotFile + " is ignored: not a readable workflow", ciFile + " is ignored: not a readable workflow"}}},
		"checks of CI": {"", test("{run: npm ci}, {run: npm run lint && npm test}, {run: echo done}, {run: npm install -g codecov}"), survey.Proposal{
			Checks: from(ciFile, "npm run lint", "npm test"), Setup: from(ciFile, "npm ci"),
		}},
		"analyzers": {"", test("{run: a}, {run: dart analyze}, {run: npx eslint .}, {run: staticcheck ./...}, {run: make test}"), survey.Proposal{
			Checks: from(ciFile, "dart analyze", "npx eslint .", "staticcheck ./...", "make test"), Setup: from(ciFile, "a"),
		}},
		"a script of tests": {"", test("{run: npm install}, {run: 'npm run test:ci'}"), survey.Proposal{Checks: from(ciFile, "npm run test:ci"), Setup: from(ciFile, "npm install")}},
		"setup of both":     {job("    - run: npm ci\n"), test("{run: npm install}, {run: npm test}"), survey.Proposal{Checks: from(ciFile, "npm test"), Setup: from(copilotFile, "npm ci")}},
		"variables": {"", "env: {A: every, B: other}\n" + "jobs: {a: {env: {B: 1, C: '${{ secrets.KEY }}', D: '${{ matrix.d }}', E: \"x\\ny\"}, steps: [" +
			"{run: make test, env: {F: a b, G: true}}, {run: make deploy, env: {H: no}}, {run: make lint, env: {F: other}}]}}", survey.Proposal{
			Checks: from(ciFile, "make test", "make lint"), Env: from(ciFile, "A=every", "B=1", "G=true"),
			Ignored: []string{
				ciFile + `: the command "make deploy" is left out: add it to setup if a check needs it`,
				ciFile + ": the variable C has the secret KEY: add it to check-secrets",
				ciFile + `: the variable "D" is left out: it has an expression, or not one plain value`,
				ciFile + `: the variable "E" is left out: it has an expression, or not one plain value`,
				ciFile + `: the variable "F" is left out: it has an expression, or not one plain value`,
			},
		}},
		"tools of CI":       {"", test("{uses: actions/setup-node@v4}, {run: make test}"), survey.Proposal{Checks: tests, Steps: node}},
		"tools of no tests": {"", test("{uses: actions/setup-node@v4}, {run: latest}"), survey.Proposal{}},
		"tools of both": {job("    - uses: astral-sh/setup-uv@v6\n"), test("{uses: actions/setup-node@v4}, {run: make test}"), survey.Proposal{
			Checks: tests, Steps: []survey.Block{{YAML: "- uses: astral-sh/setup-uv@v6\n", From: copilotFile}},
		}},
		"a matrix": {"", test("{uses: actions/setup-node@v4, with: {node-version: '${{ matrix.node }}'}}, {run: make test}"), survey.Proposal{
			Checks: tests, Ignored: []string{ciFile + `: the step "actions/setup-node@v4" is left out: it has an expression or a condition`},
		}},
		"a new line to YAML": {"", test("{uses: a/setup-b@v1, with: {c: \"d\\u2028e\"}}, {uses: a/setup-b@v1}, {run: make test}]}}\n# uses: a/setup-b@v1 # v1\u2028x: y\n#"), survey.Proposal{
			Checks: tests, Steps: []survey.Block{{YAML: "- uses: a/setup-b@v1 # v1\n", From: ciFile}},
			Ignored: []string{ciFile + `: the step "a/setup-b@v1" is left out: it has an expression or a condition`},
		}},
		"other actions": {"", test("{uses: ./setup-node}, {uses: a/b@v1}, {uses: actions/cache@v4}, {uses: 'a/setup-b@v1 #x'}, {run: make test}, {uses: a/c@v1}"), survey.Proposal{
			Checks: tests, Ignored: []string{
				ciFile + `: the step "./setup-node" is left out: add it to the workflow if the checks need it`,
				ciFile + `: the step "a/b@v1" is left out: add it to the workflow if the checks need it`,
				ciFile + `: the step "a/setup-b@v1 #x" is left out: add it to the workflow if the checks need it`,
			},
		}},
		"a service": {"", "jobs: {a: {services: {db: {image: postgres, ports: ['6000:5432/tcp']}}, steps: [{run: make test}]}}", survey.Proposal{
			Checks: tests, Services: survey.Block{YAML: "services:\n  db:\n    image: postgres\n    ports:\n      - 6000:5432/tcp\n", From: ciFile}, Ports: []string{"6000"},
		}},
		"a secret service": {"", "jobs: {a: {services: {db: {image: postgres, env: {A: '${{ secrets.A }}'}, ports: ['1:1']}}, steps: [{run: make test}]}}", survey.Proposal{
			Checks: tests, Ignored: []string{ciFile + `: the service "db" is left out: it has an expression, or no fixed port as in 5432:5432`},
		}},
	} {
		files := map[string]string{
			".github/workflows/notes.md": "", ".github/workflows/ralph.yml": "jobs: {a: {steps: [{run: ralph test}]}}",
			".github/workflows/a\n  b: c\n#.yml": "jobs: {a: {steps: [{run: evil test}]}}",
		}
		if test.copilot != "" {
			files[copilotFile] = test.copilot
		}
		if test.ci != "" {
			files[ciFile] = test.ci
		}
		if diff := cmp.Diff(test.want, survey.Propose(of(files))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What CI does before its first check is needed: on the runner where it installs tools, else in the sandbox.
func TestProposeWhatChecksNeed(t *testing.T) {
	lock := map[string]string{"package.json": `{"scripts":{"test":"jest"}}`, "package-lock.json": "{}"}
	for name, test := range map[string]struct {
		steps, runner, setup, ignored string
		files                         map[string]string
		env                           []survey.Command
	}{
		"pnpm": {
			"{uses: pnpm/action-setup@v4, with: {version: 9}}, {uses: actions/setup-node@v4, with: {node-version: 22, cache: pnpm}}, {run: pnpm install}",
			"- uses: pnpm/action-setup@v4\n  with:\n    version: 9\n- uses: actions/setup-node@v4\n  with:\n    node-version: 22\n", "pnpm install", "", nil, nil,
		},
		"corepack": {
			"{run: corepack enable}, {uses: actions/setup-node@v4, with: {cache: yarn, cache-dependency-path: '${{ a }}', package-manager-cache: false}}, {run: yarn --immutable}",
			"- run: corepack enable\n- uses: actions/setup-node@v4\n  with:\n    package-manager-cache: false\n", "yarn --immutable", "", lock, nil,
		},
		"poetry":     {"{run: pipx install poetry}, {uses: snok/install-poetry@v1}, {run: poetry install}", "- run: pipx install poetry\n- uses: snok/install-poetry@v1\n", "poetry install", "", nil, nil},
		"ruby":       {"{uses: ruby/setup-ruby@v1, with: {bundler-cache: true}}, {run: bin/rails db:setup}", "- uses: ruby/setup-ruby@v1\n", "bundle install; bin/rails db:setup", "", nil, nil},
		"toolchains": {"{uses: dtolnay/rust-toolchain@nightly}, {uses: jdx/mise-action@v2}, {uses: Swatinem/rust-cache@v2}", "- uses: dtolnay/rust-toolchain@nightly\n- uses: jdx/mise-action@v2\n", "", "", nil, nil},
		"packages": {
			"{run: 'set -e && sudo -E apt-get install -y a && npm install -g b'}, {run: python -m pip install -U pip 'poetry>=2'}, {run: pip install -r c.txt}, {run: pip install .}",
			"- run: set -e && sudo -E apt-get install -y a\n- run: set -e && npm install -g b\n- run: python -m pip install -U pip 'poetry>=2'\n", "pip install -r c.txt; pip install .", "", nil, nil,
		},
		"a virtual environment": {"{run: '. a && pip install poetry && echo b >> $GITHUB_PATH'}", "", ". a && pip install poetry", outside(". a && echo b >>$GITHUB_PATH"), nil, nil},
		"a second checkout": {
			"{uses: actions/checkout@v4}, {uses: actions/checkout@v5}, {run: pipx install a}",
			"- uses: actions/checkout@v4\n  with:\n    persist-credentials: false\n    ref: ${{ github.event.repository.default_branch }}\n- run: pipx install a\n",
			"", `step "actions/checkout@v5" is left out: add it to the workflow if the checks need it`, nil, nil,
		},
		"a path":         {"{run: 'curl a | sh'}, {run: echo b >> $GITHUB_PATH}", "- run: curl a | sh\n- run: echo b >>$GITHUB_PATH\n", "", "", nil, nil},
		"its variables":  {"{run: brew install a, env: {B: c}}, {run: brew install d, env: {E: '${{ f }}'}}, {run: 'pipx install a==$VERSION'}", "- run: brew install a\n  env:\n    B: c\n- run: pipx install a==$VERSION\n  env:\n    VERSION: \"1.10\"\n", "", `command "brew install d" is left out: its variables have an expression`, nil, nil},
		"preparations":   {"{run: npm ci}, {run: 'npx prisma generate && cp a b'}, {run: go generate ./...}", "", "npm ci; npx prisma generate; cp a b; go generate ./...", "", lock, nil},
		"packages by us": {"{run: cp a b}", "", "npm ci; cp a b", "", lock, nil},
		"containers":     {"{run: docker compose up -d}, {run: sudo docker ps}", "", "", outside("docker compose up -d") + "; " + outside("sudo docker ps"), nil, nil},
		"remotes":        {"{run: git submodule update}, {run: git config --global a b}", "", "git config --global a b", outside("git submodule update"), nil, nil},
		"an if outside":  {"{run: 'if a; then sudo b; else docker ps; fi'}", "", "", outside("if a; then sudo b; else docker ps; fi"), nil, nil},
		"checks outside": {"{run: sudo make test}, {run: npm test $GITHUB_SHA}, {run: corepack pnpm test}", "", "", outside("sudo make test") + "; " + outside("npm test $GITHUB_SHA"), nil, nil},
		"between checks": {"{run: make lint}, {run: a}, {run: corepack enable}", "- run: corepack enable\n", "", `command "a" is left out: add it to setup if a check needs it`, nil, nil},
	} {
		files := maps.Clone(test.files)
		if files == nil {
			files = map[string]string{}
		}
		files[ciFile] = "jobs: {a: {env: {VERSION: '1.10'}, steps: [{uses: actions/cache@v4}, " + test.steps + ", {run: make test}, {run: 'deploy ${{ x }}'}]}}"
		p := survey.Propose(of(files))
		var setup []string
		for _, c := range p.Setup {
			setup = append(setup, c.Command)
		}
		got := []string{"", strings.Join(setup, "; "), strings.ReplaceAll(strings.Join(p.Ignored, "; "), ciFile+": the ", "")}
		if p.Steps != nil {
			got[0] = p.Steps[0].YAML
		}
		if diff := cmp.Diff([]string{test.runner, test.setup, test.ignored}, got); diff != "" || p.Checks[len(p.Checks)-1].Command != "make test" || !slices.Equal(append(test.env, from(ciFile, "VERSION=1.10")...), p.Env) {
			t.Errorf("%s: checks %v, variables %v (-want +got):\n%s", name, p.Checks, p.Env, diff)
		}
	}
}

func outside(command string) string {
	return `command "` + command + `" is left out: the sandbox has no root, Docker, git remote or variables of the runner`
}

func TestProposeFromOtherFiles(t *testing.T) {
	step := func(from, uses, version string) survey.Block {
		return survey.Block{YAML: "- uses: actions/setup-" + uses + "-version: \"" + version + "\"\n", From: from}
	}
	const (
		node   = "node@49933ea5288caeca8642d1e84afbd3f7d6820020 # v4.4.0\n  with:\n    node"
		python = "python@a26af69be951a213d495a4c3e4e4022e16d87065 # v5.6.0\n  with:\n    python"
		golang = "go@d35c59abb061a4a6fb18e82ac0862c26744d6ab5 # v5.5.0\n  with:\n    go"
	)
	for name, test := range map[string]struct {
		files map[string]string
		want  survey.Proposal
	}{
		".tool-versions": {
			map[string]string{".tool-versions": "nodejs 22.3.0\npython 3.12.1 3.11.0\ngolang 1.25\nruby 3.4\n", ".nvmrc": "20"},
			survey.Proposal{Steps: []survey.Block{step(".tool-versions", node, "22.3.0"), step(".tool-versions", python, "3.12.1"), step(".tool-versions", golang, "1.25")}},
		},
		"mise":            {map[string]string{"mise.toml": "[tools]\nnode = \"22\"\npython = 'latest'\n"}, survey.Proposal{Steps: []survey.Block{step("mise.toml", node, "22")}}},
		".nvmrc":          {map[string]string{".nvmrc": "v20.1.0\n"}, survey.Proposal{Steps: []survey.Block{step(".nvmrc", node, "20.1.0")}}},
		"a name of node":  {map[string]string{".node-version": "lts/*"}, survey.Proposal{Steps: []survey.Block{step(".node-version", node, "lts/*")}}},
		".python-version": {map[string]string{".python-version": "3.13\n"}, survey.Proposal{Steps: []survey.Block{step(".python-version", python, "3.13")}}},
		"another python":  {map[string]string{".python-version": "pypy3.10\n"}, survey.Proposal{}},
		"a step in it":    {map[string]string{".nvmrc": "22\n- run: id", ".python-version": "3.13\"\n      - run: id", ".go-version": "1.25\n1.26"}, survey.Proposal{}},
		"go.work": {
			map[string]string{"go.work": "go 1.25\n\nuse ./a\n", "a/go.mod": "module a\n\ngo 1.24.0\n"},
			survey.Proposal{Checks: from("a/go.mod", "cd a && go vet ./...", "cd a && go test ./..."), Steps: []survey.Block{step("go.work", golang, "1.25")}},
		},
		"go.mod": {
			map[string]string{"go.mod": "module a\n\ngo 1.24.0\n\ntoolchain go1.25.1\n"},
			survey.Proposal{Checks: from("go.mod", "go vet ./...", "go test ./..."), Steps: []survey.Block{step("go.mod", golang, "1.25.1")}},
		},
		"projects side by side": {
			map[string]string{"api/go.mod": "module a\n\ngo 1.24.0\n", "old/go.mod": "module o\n\ngo 1.20.0\n", "web/.nvmrc": "22", "web/package.json": `{"scripts":{"test":"jest"}}`},
			survey.Proposal{
				Checks: slices.Concat(
					from("api/go.mod", "cd api && go vet ./...", "cd api && go test ./..."), from("old/go.mod", "cd old && go vet ./...", "cd old && go test ./..."),
					from("web/package.json", "cd web && npm test"),
				),
				Steps: []survey.Block{step("api/go.mod", golang, "1.24.0"), step("web/.nvmrc", node, "22")},
			},
		},
		"CI says more": {
			map[string]string{".nvmrc": "20", "go.mod": "go 1.25\n", ciFile: "jobs: {a: {steps: [{uses: actions/setup-node@v4}, {run: make test}]}}"},
			survey.Proposal{Checks: from(ciFile, "make test"), Steps: []survey.Block{{YAML: "- uses: actions/setup-node@v4\n", From: ciFile}, step("go.mod", golang, "1.25")}},
		},
		"a matrix of CI": {
			map[string]string{".nvmrc": "20", ciFile: "jobs: {a: {steps: [{uses: actions/setup-node@v4, with: {node-version: '${{ matrix.n }}'}}, {run: make test}]}}"},
			survey.Proposal{
				Checks: from(ciFile, "make test"), Steps: []survey.Block{step(".nvmrc", node, "20")},
				Ignored: []string{ciFile + `: the step "actions/setup-node@v4" is left out: it has an expression or a condition`},
			},
		},
	} {
		if diff := cmp.Diff(test.want, survey.Propose(of(test.files))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
