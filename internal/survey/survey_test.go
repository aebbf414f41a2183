package survey_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/survey"
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
		"a spec without ruby":    {map[string]string{"spec/": "", "Rakefile": "", "test/": ""}, nil, nil},
		"ruby without tests":     {map[string]string{"Gemfile": "", "Rakefile": ""}, nil, nil},
		"ruby without rake":      {map[string]string{"Gemfile": "", "test/": ""}, nil, nil},
		"deno":                   {map[string]string{"deno.jsonc": "{}"}, []string{"deno test"}, nil},
		"pytest":                 {map[string]string{"pyproject.toml": "[tool.pytest.ini_options]\n"}, []string{"python3 -m pytest"}, nil},
		"pytest.ini":             {map[string]string{"pytest.ini": ""}, []string{"python3 -m pytest"}, nil},
		"unittest":               {map[string]string{"pyproject.toml": "[project]\n", "tests/": ""}, []string{"python3 -m unittest discover -s tests"}, nil},
		"python without tests":   {map[string]string{"pyproject.toml": "[project]\n"}, nil, nil},
		"maven":                  {map[string]string{"pom.xml": "", "mvnw": ""}, []string{"sh mvnw -B test"}, nil},
		"gradle":                 {map[string]string{"build.gradle.kts": ""}, []string{"gradle test"}, nil},
		"rspec":                  {map[string]string{"Gemfile": "", "spec/": ""}, []string{"bundle exec rspec"}, nil},
		"rake":                   {map[string]string{"Gemfile": "", "Rakefile": "", "test/": ""}, []string{"bundle exec rake test"}, nil},
		"composer":               {map[string]string{"composer.json": `{"scripts":{"test":"phpunit"}}`}, []string{"composer test"}, nil},
		"mix and swift":          {map[string]string{"mix.exs": "", "Package.swift": ""}, []string{"mix test", "swift test"}, nil},
		"two languages":          {map[string]string{"go.mod": "", "package.json": `{"scripts":{"test":"jest"}}`}, []string{"go vet ./...", "go test ./...", "npm test"}, nil},
	} {
		files := survey.Files{}
		for name, text := range test.files {
			files[name] = []byte(text)
		}
		if diff := cmp.Diff(test.checks, commands(t, files, files.Checks())); diff != "" {
			t.Errorf("%s: checks (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(test.setup, commands(t, files, files.Setup())); diff != "" {
			t.Errorf("%s: setup (-want +got):\n%s", name, diff)
		}
	}
}

// commands are those found; each says which file it is from, and that is one
// that was asked for.
func commands(t *testing.T, files survey.Files, found []survey.Command) []string {
	t.Helper()
	var all []string
	for _, command := range found {
		if _, there := files[command.From]; !there || !strings.Contains(strings.Join(survey.Wanted(), " "), command.From) {
			t.Errorf("%s is from %s, which nobody asked for", command.Command, command.From)
		}
		all = append(all, command.Command)
	}
	return all
}
