package survey_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/proof/survey"
)

func TestChecks(t *testing.T) {
	for name, test := range map[string]struct {
		files         map[string]string
		checks, setup []string
	}{
		"nothing":                {map[string]string{"README.md": "# a"}, nil, nil},
		"go":                     {map[string]string{"go.mod": "module a"}, []string{"go vet ./...", "go test ./..."}, nil},
		"make before go":         {map[string]string{"go.mod": "module a", "Makefile": ".PHONY: test\ntest:\n\tgo test ./...\n"}, []string{"make test"}, nil},
		"make with needs":        {map[string]string{"Makefile": "test: build\n"}, []string{"make test"}, nil},
		"make with more":         {map[string]string{"Makefile": "test lint: build\n"}, []string{"make test"}, nil},
		"make check":             {map[string]string{"GNUmakefile": "check:\n"}, []string{"make check"}, nil},
		"a variable":             {map[string]string{"Makefile": "test := ./a\ntests:\n"}, nil, nil},
		"just":                   {map[string]string{"justfile": "test:\n  cargo test\n"}, []string{"just test"}, nil},
		"rust":                   {map[string]string{"Cargo.toml": ""}, []string{"cargo test"}, nil},
		"npm":                    {map[string]string{"package.json": `{"scripts":{"test":"jest","lint":"eslint ."}}`, "package-lock.json": "{}"}, []string{"npm test", "npm run lint"}, []string{"npm ci"}},
		"npm without a lock":     {map[string]string{"package.json": `{"scripts":{"test":"jest"}}`}, []string{"npm test"}, nil},
		"npm, and no lock kept":  {map[string]string{"package.json": `{"scripts":{"test":"mocha"},"devDependencies":{"mocha":"11"}}`}, []string{"npm test"}, []string{"npm install --no-package-lock"}},
		"npm without tests":      {map[string]string{"package.json": `{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`, "package-lock.json": "{}"}, nil, nil},
		"one that never ends":    {map[string]string{"package.json": `{"scripts":{"test":"jest --watch"}}`}, nil, nil},
		"pnpm":                   {map[string]string{"package.json": `{"scripts":{"test":"vitest run"}}`, "pnpm-lock.yaml": ""}, []string{"pnpm test"}, []string{"pnpm install --frozen-lockfile"}},
		"yarn":                   {map[string]string{"package.json": `{"scripts":{"typecheck":"tsc"}}`, "yarn.lock": ""}, []string{"yarn run typecheck"}, []string{"yarn install --frozen-lockfile"}},
		"bun":                    {map[string]string{"package.json": `{"scripts":{"test":"bun test"}}`, "bun.lock": ""}, []string{"bun run test"}, []string{"bun install --frozen-lockfile"}},
		"a broken package.json":  {map[string]string{"package.json": `{"scripts":`}, nil, nil},
		"one that ends, says it": {map[string]string{"package.json": `{"scripts":{"test":"vitest --watch=false"}}`}, []string{"npm test"}, nil},
		"a file half broken":     {map[string]string{"package.json": `{"scripts":{"test":"jest"},"x":`}, nil, nil},
		"a script of one kind":   {map[string]string{"package.json": `{"scripts":{"test":"jest","lint":3}}`}, nil, nil},
		"the old lock of bun":    {map[string]string{"package.json": `{"scripts":{"test":"bun test"}}`, "bun.lockb": ""}, []string{"bun run test"}, []string{"bun install --frozen-lockfile"}},
		"ruby without tests":     {map[string]string{"Gemfile": "", "Rakefile": ""}, nil, nil},
		"ruby without rake":      {map[string]string{"Gemfile": "", "test/": ""}, nil, nil},
		"pytest":                 {map[string]string{"pyproject.toml": "[tool.pytest.ini_options]\n"}, []string{"python3 -m pytest"}, nil},
		"pytest.ini":             {map[string]string{"pytest.ini": ""}, []string{"python3 -m pytest"}, nil},
		"unittest":               {map[string]string{"pyproject.toml": "[project]\n", "tests/": ""}, []string{"python3 -m unittest discover -s tests"}, nil},
		"uv":                     {map[string]string{"pyproject.toml": "[dependency-groups]\ndev = [\"pytest\"]\n", "uv.lock": ""}, []string{"uv run pytest"}, []string{"uv sync --locked"}},
		"python without tests":   {map[string]string{"pyproject.toml": "[project]\n"}, nil, nil},
		"maven":                  {map[string]string{"pom.xml": "", "mvnw": ""}, []string{"sh mvnw -B test"}, nil},
		"gradle":                 {map[string]string{"build.gradle.kts": ""}, []string{"gradle test"}, nil},
		"rspec":                  {map[string]string{"Gemfile": "", "spec/": ""}, []string{"bundle exec rspec"}, nil},
		"rake":                   {map[string]string{"Gemfile": "", "Rakefile": "", "test/": ""}, []string{"bundle exec rake test"}, nil},
		"composer":               {map[string]string{"composer.json": `{"scripts":{"test":"phpunit"}}`}, []string{"composer test"}, nil},
		"mix and swift":          {map[string]string{"mix.exs": "", "Package.swift": ""}, []string{"mix test", "swift test"}, nil},
		"workspaces without a lock file": {
			map[string]string{"package.json": `{"workspaces":["a"],"scripts":{"test":"npm test -ws"}}`, "a/package.json": `{"dependencies":{"left-pad":"1"}}`},
			[]string{"npm test"},
			[]string{"npm install --no-package-lock"},
		},
		"projects side by side": {
			map[string]string{
				"README.md": "", "backend/go.mod": "", "frontend/package.json": `{"scripts":{"test":"jest","lint":"eslint"}}`, "frontend/package-lock.json": "{}",
				"services/mail/Cargo.toml": "", "docs/a.md": "",
			},
			[]string{"cd backend && go vet ./...", "cd backend && go test ./...", "cd frontend && npm test", "cd frontend && npm run lint", "cd services/mail && cargo test"},
			[]string{"cd frontend && npm ci"},
		},
		"a project at the top, and others": {
			map[string]string{"Cargo.toml": "", "examples/web/package.json": `{"scripts":{"test":"jest"}}`}, []string{"cargo test"}, nil,
		},
		"poetry": {map[string]string{"pyproject.toml": "pytest", "poetry.lock": ""}, []string{"poetry run pytest"}, []string{"poetry install"}},
		"a Makefile installs what it needs": {
			map[string]string{"Makefile": "test:\n", "pyproject.toml": "pytest", "uv.lock": "", "package.json": `{"scripts":{"test":"jest"}}`, "package-lock.json": ""},
			[]string{"make test"},
			nil,
		},
		"npm workspaces": {
			map[string]string{
				"package.json": `{"workspaces":["packages/*","site"]}`, "package-lock.json": "{}", "site/package.json": `{"scripts":{"test":"jest"}}`,
				"packages/a/package.json": `{"scripts":{"test":"jest"}}`, "packages/b/package.json": `{}`,
			},
			[]string{"cd packages/a && npm test", "cd site && npm test"},
			[]string{"npm ci"},
		},
		"pnpm workspaces": {
			map[string]string{"package.json": "{}", "pnpm-lock.yaml": "", "apps/web/package.json": `{"scripts":{"test":"vitest run"}}`},
			[]string{"cd apps/web && pnpm test"},
			[]string{"pnpm install --frozen-lockfile"},
		},
		"workspaces with tests at the top": {
			map[string]string{"package.json": `{"workspaces":["a"],"scripts":{"test":"jest"}}`, "a/package.json": `{"scripts":{"test":"jest"}}`},
			[]string{"npm test"},
			[]string{"npm install --no-package-lock"},
		},
		"no workspaces": {
			map[string]string{"a/package.json": `{"scripts":{"test":"jest"},"dependencies":{"left-pad":"1"}}`},
			[]string{"cd a && npm test"},
			[]string{"cd a && npm install --no-package-lock"},
		},
		"several lock files": {
			map[string]string{"api/pyproject.toml": "pytest", "api/uv.lock": "", "lib/pyproject.toml": "pytest", "lib/poetry.lock": "", ".venv/pyproject.toml": "pytest"},
			[]string{"cd api && uv run pytest", "cd lib && poetry run pytest"},
			[]string{"cd api && uv sync --locked", "cd lib && poetry install"},
		},
		"folders that a shell would read otherwise": {map[string]string{"a;b/go.mod": "", "-x/go.mod": "", "c d/go.mod": ""}, nil, nil},
		"folders too far down":                      {map[string]string{"a/b/c/go.mod": ""}, nil, nil},
		"a Cargo workspace":                         {map[string]string{"Cargo.toml": "[workspace]\nmembers = [\"a\"]\n", "a/Cargo.toml": ""}, []string{"cargo test --workspace"}, nil},
		"two languages":                             {map[string]string{"go.mod": "", "package.json": `{"scripts":{"test":"jest"}}`}, []string{"go vet ./...", "go test ./...", "npm test"}, nil},
	} {
		found := survey.Read(of(test.files))
		if diff := cmp.Diff(test.checks, commands(t, test.files, found.Checks)); diff != "" {
			t.Errorf("%s: checks (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(test.setup, commands(t, test.files, found.Setup)); diff != "" {
			t.Errorf("%s: setup (-want +got):\n%s", name, diff)
		}
	}
}

// A project can have thousands of folders: not all are listed.
func TestFoldersAreListedUntilThereAreEnough(t *testing.T) {
	files := map[string]string{}
	for i := range 500 {
		files[fmt.Sprintf("a%d/b/package.json", i)] = "{}"
	}
	source := of(files)
	list, lists := source.List, 0
	source.List = func(folder string) []string {
		lists++
		return list(folder)
	}
	if survey.Read(source); lists > 1000 {
		t.Errorf("%d lists", lists)
	}
}

// A lock file says what it has to by being there: many are larger than what is read.
func TestLocksAreNotRead(t *testing.T) {
	source := of(map[string]string{"web/package.json": `{"scripts":{"test":"jest"}}`, "web/pnpm-lock.yaml": "", "api/pyproject.toml": "pytest", "api/uv.lock": ""})
	all := source.Read
	source.Read = func(name string) []byte {
		if survey.Locks(name) {
			return nil
		}
		return all(name)
	}
	want := []survey.Command{
		{Command: "cd api && uv sync --locked", From: "api/uv.lock"},
		{Command: "cd web && pnpm install --frozen-lockfile", From: "web/pnpm-lock.yaml"},
	}
	if diff := cmp.Diff(want, survey.Read(source).Setup); diff != "" {
		t.Errorf("setup (-want +got):\n%s", diff)
	}
}

// A check's program is set up in the version that a file names, or else in the usual one.
func TestTools(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  []string // versions or commands, with their files
	}{
		"nothing":           {map[string]string{"Makefile": "test:\n", ".nvmrc": "22"}, nil},
		"node":              {map[string]string{"package.json": `{"scripts":{"test":"jest"}}`}, []string{`node-version: "lts/*" from package.json`}},
		"a version of node": {map[string]string{"package.json": `{"scripts":{"test":"jest"}}`, ".nvmrc": "22"}, []string{"node-version-file: .nvmrc from .nvmrc"}},
		"a folder": {
			map[string]string{"web/package.json": `{"scripts":{"test":"jest"}}`, "web/.node-version": "22", "api/go.mod": "", ".node-version": "20"},
			[]string{"go-version-file: api/go.mod from api/go.mod", "node-version-file: web/.node-version from web/.node-version"},
		},
		"pnpm":   {map[string]string{"package.json": `{"scripts":{"test":"jest"}}`, "pnpm-lock.yaml": ""}, []string{`node-version: "lts/*" from package.json`, "npm install --global pnpm from package.json"}},
		"poetry": {map[string]string{"pyproject.toml": "pytest", "poetry.lock": "", ".python-version": "3.13"}, []string{"python-version-file: .python-version from .python-version", "pipx install poetry from pyproject.toml"}},
		"uv":     {map[string]string{"pyproject.toml": "pytest", "uv.lock": ""}, []string{"pipx install uv from pyproject.toml"}},
		"rust":   {map[string]string{"Cargo.toml": ""}, nil},
	} {
		var got []string
		for _, tool := range survey.Read(of(c.files)).Tools {
			if (tool.Uses == "") == (tool.Run == "") {
				t.Errorf("%s: %+v is not one step", name, tool)
			}
			got = append(got, tool.Version+tool.Run+" from "+tool.From)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// of returns a project of some files.
func of(files map[string]string) survey.Source {
	return survey.Source{
		List: func(folder string) []string {
			names := map[string]bool{}
			for name := range files {
				rest, is := strings.CutPrefix(name, folder+"/")
				if folder == "" {
					rest, is = name, true
				}
				if first, _, more := strings.Cut(rest, "/"); is && more {
					names[first+"/"] = true
				} else if is {
					names[first] = true
				}
			}
			return slices.Sorted(maps.Keys(names))
		},
		Read: func(name string) []byte {
			if text, is := files[name]; is {
				return []byte(text)
			}
			return nil
		},
	}
}

// commands returns those found; each says which file it is from, and that is one
// that was asked for.
func commands(t *testing.T, files map[string]string, found []survey.Command) []string {
	t.Helper()
	var all []string
	for _, command := range found {
		if _, there := files[command.From]; !there {
			t.Errorf("%s is from %s, which is not there", command.Command, command.From)
		}
		all = append(all, command.Command)
	}
	return all
}
