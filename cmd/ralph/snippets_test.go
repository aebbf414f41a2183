package main_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/rhysd/actionlint"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	markdown "github.com/yuin/goldmark/text"

	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

var workedOut = regexp.MustCompile(`\$\{\{[^}]*\}\}`)

// snippet is a block of code in a page.
type snippet struct {
	page, language, code string
	first                string // command of the comment <!-- first: … --> above it
}

// aside is a comment above a block: a command to run first, or why nothing runs it.
var aside = regexp.MustCompile(`^<!-- (first|not run): (.+) -->\s*$`)

// snippetsOf returns the blocks of a page, without those that say why nothing runs them.
func snippetsOf(t *testing.T, name string) []snippet {
	t.Helper()
	source := []byte(readFile(t, name))
	var found []snippet
	err := ast.Walk(goldmark.DefaultParser().Parse(markdown.NewReader(source)), func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		lines, is := node.(interface{ Lines() *markdown.Segments })
		fenced, _ := node.(*ast.FencedCodeBlock)
		if !entering || !is || node.Kind() != ast.KindCodeBlock && fenced == nil {
			return ast.WalkContinue, nil
		}
		one := snippet{page: filepath.Base(name), code: string(lines.Lines().Value(source))}
		if fenced != nil {
			one.language = string(fenced.Language(source))
		}
		if above, is := node.PreviousSibling().(*ast.HTMLBlock); is {
			said := aside.FindStringSubmatch(string(above.Lines().Value(source)))
			if said != nil && said[1] == "not run" {
				return ast.WalkContinue, nil
			} else if said != nil {
				one.first = said[2]
			}
		}
		found = append(found, one)
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Every block of code in README and docs works as it stands, or a comment above it in the
// page says why nothing runs it.
func TestSnippets(t *testing.T) {
	t.Parallel()
	pages := []string{"../../README.md"}
	for _, pattern := range []string{"../../docs/*.md", "../../docs/dev/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	ran := map[string]int{}
	for _, page := range pages {
		for i, one := range snippetsOf(t, page) {
			ran[one.language]++
			if one.language == "sh" && !short.Has(one.page+one.code) {
				continue
			}
			t.Run(fmt.Sprintf("%s-%d", one.page, i+1), func(t *testing.T) {
				t.Parallel()
				one.try(t)
			})
		}
	}
	if ran["sh"] < 8 || ran["yaml"] < 8 || ran["json"] < 4 {
		t.Errorf("found only %v", ran)
	}
}

func (s snippet) try(t *testing.T) {
	t.Helper()
	switch s.language {
	case "sh":
		s.run(t)
	case "yaml":
		s.lint(t)
	case "json":
		if _, err := config.ReadSettings(config.File{Name: s.page, Data: []byte(s.code)}); err != nil {
			t.Errorf("no settings: %v", err)
		}
	case "text", "markdown", "mermaid":
	default:
		t.Errorf("a block in %q: name the language, or say above it why nothing runs it:\n%s", s.language, s.code)
	}
}

// scratch is a project for the commands of the docs, and a claude that writes a file with
// its test and says that it is done.
var scratch = map[string]string{
	".gitignore":           "/.ralph/*\n!/.ralph/settings.json\n",
	".ralph/settings.json": `{"guardrails": [{"command": "make test", "failAction": "APPEND"}]}`,
	"../bin/claude": `#!/bin/sh
cat > /dev/null
echo done > done.txt && echo 'test -f done.txt' > tests/done.sh
[ ! -f ralph/prd.json ] || sed -i 's/"passes": false/"passes": true/' ralph/prd.json
git add . && git commit --quiet --message="feat: done"
echo '{"type": "result", "subtype": "success", "is_error": false, "total_cost_usd": 0.01, "result": "<response>DONE</response> <promise>COMPLETE</promise>"}'
`,
	"Makefile":        "test:\n\t@for test in tests/*.sh; do sh $$test && echo \"ok $$test\" || exit 1; done\n",
	"tests/greet.sh":  "test -f PROMPT.md\n",
	"go.mod":          "module example.com/greet\n\ngo 1.24\n",
	"greet.go":        "package greet\n",
	"greet_test.go":   "package greet\n\nimport \"testing\"\n\nfunc TestGreet(t *testing.T) { t.Log(\"hello\") }\n",
	"issue.md":        "## Acceptance criteria\n- [ ] done.txt exists\n",
	"PROMPT.md":       "Write done.txt.\n",
	"agent.sh":        "#!/bin/sh\ntouch \"$TASK_FOLDER/DONE\"\n",
	"tasks/t1/README": "A task.\n",
}

// run runs a block of commands in a project of its own.
func (s snippet) run(t *testing.T) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "project")
	for _, name := range slices.Sorted(maps.Keys(scratch)) {
		if err := write(filepath.Join(dir, name), []byte(scratch[name])); err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range []string{"agent.sh", "../bin/claude"} {
		if err := os.Chmod(filepath.Join(dir, program), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main", "."},
		{"config", "user.name", "Ada"},
		{"config", "user.email", "ada@example.com"},
		{"add", "."},
		{"commit", "--quiet", "--message=A beginning"},
	} {
		if _, err := tryGit(t.Context(), dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	for _, commands := range []string{s.first, s.code} {
		cmd := exec.CommandContext(t.Context(), "sh", "-eu", "-c", commands)
		cmd.Dir = dir
		cmd.Env = append(gitEnv(), quickExit, unconfined, // inside, Go would be built anew
			"HOME="+filepath.Dir(dir), "GOCACHE="+goCache(), "PATH="+filepath.Join(dir, "../bin")+":"+os.Getenv("PATH"))
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s\n%v\n%s", commands, err, said)
		}
	}
}

// lint makes a workflow of a part of one, and looks at that as GitHub and ralph do.
func (s snippet) lint(t *testing.T) {
	t.Helper()
	workflow := s.workflow(t)
	linter, err := actionlint.NewLinter(&bytes.Buffer{}, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := linter.Lint("workflow.yml", workflow, nil)
	for _, one := range wrong {
		t.Errorf("%v\n%s", one, workflow)
	}
	given, unread := config.InputsOfWorkflow(workedOut.ReplaceAll(workflow, []byte("placeholder")))
	if err != nil || unread != nil {
		t.Fatalf("%v, %v", err, unread)
	}
	delete(given, "args") // is the runner's
	inputs := offeredBy(t, "../../host/action.yml").Inputs
	for name := range given {
		if _, known := inputs[name]; !known {
			t.Errorf("there is no input %s", name)
		}
	}
	if given["app-id"] != "" {
		given["app-id"] = "7"
	}
	if _, err := config.ReadInputs(func(name string) string {
		if value, found := given[name]; found {
			return value
		}
		return inputs[name].Default
	}); err != nil {
		t.Errorf("%v\n%s", err, workflow)
	}
}

// workflow returns the block as part of a whole workflow: its steps, inputs or triggers.
func (s snippet) workflow(t *testing.T) []byte {
	t.Helper()
	var read any
	if err := yaml.Unmarshal([]byte(s.code), &read); err != nil {
		t.Fatal(err)
	}
	const head, job = "on: push\n", "jobs:\n  ralph:\n    runs-on: ubuntu-latest\n    steps:\n"
	keys, _ := read.(map[string]any)
	steps, _ := read.([]any)
	switch {
	case keys["jobs"] != nil:
		return []byte(s.code)
	case keys["on"] != nil:
		return []byte(s.code + job + "      - run: make\n")
	case keys["steps"] != nil:
		return []byte(head + "jobs:\n  ralph:\n    runs-on: ubuntu-latest\n" + indented(s.code, 4))
	case steps != nil:
		return []byte(head + job + indented(s.code, 6))
	}
	return []byte(head + job + "      - uses: ralph-loop/ralph/host@main\n        with:\n" + indented(s.code, 10))
}

// indented returns a block with its first line at a column.
func indented(code string, column int) string {
	first := len(code) - len(strings.TrimLeft(code, " "))
	var all strings.Builder
	for line := range strings.Lines(code) {
		all.WriteString(strings.Repeat(" ", column) + strings.TrimPrefix(line, strings.Repeat(" ", first)))
	}
	return all.String()
}
