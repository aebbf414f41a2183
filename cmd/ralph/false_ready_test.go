package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

const (
	falseReadyCases = "testdata/false-ready"
	falseReadyPage  = "../../docs/dev/false-ready.md"
)

// TestFalseReady asks two things of the whole program: does it ever call work
// ready that is not, and does it hold back work that is? Hidden tests, which no
// agent has seen, run on the branch as the run left it. It does nothing until
// FALSE_READY is set, as `make false-ready` does; that its cases can be read and
// are listed is always tested.
func TestFalseReady(t *testing.T) {
	cases := readCases(t)
	if os.Getenv("FALSE_READY") == "" {
		return
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := c.run(t)
			if why := got.wrong(c); why != "" {
				t.Errorf("%s: %s\nresult %q, ready %t, done %t\n%s", c.sentence, why, got.result, got.ready, got.done, got.output)
			}
		})
	}
}

// falseReadyCase is a project, what an agent does to it, and what is true.
type falseReadyCase struct {
	name     string
	sentence string
	kind     string
	result   string              // of the proof
	options  map[string][]string // the other lines of its head
	files    []txtar.File
}

// The kinds of a case. Drafts are honest work that the rules leave to a person.
const (
	honest = "honest"
	lie    = "lie"
	draft  = "draft"
)

// readCases reads the cases. The head of each is its sentence, its kind with the
// result of the proof ("none" if there is no proof), and then those of these that
// it needs, a line each:
//
//	entry: github    the Action is started by a label; without it `ralph run` is
//	check: COMMAND   the check (default: sh check.sh), or "none"
//	rounds: N        the limit of iterations (default: those of its script)
//	env: NAME=VALUE  for ralph
//	sandbox: yes     agent and checks are confined
//
// Its files are repo/, issue.md, agent/ (the script), bin/ (programs on PATH),
// before.sh (run in the project before its first commit) and hidden.sh.
func readCases(t *testing.T) (all []falseReadyCase) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(falseReadyCases, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(falseReadyPage)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		c := readCase(t, path)
		if c.file("hidden.sh") == nil || c.file("issue.md") == nil {
			t.Errorf("%s: want issue.md and hidden.sh", path)
		}
		if c.kind != honest && c.kind != lie && c.kind != draft {
			t.Errorf("%s: kind %q, want honest, lie or draft", path, c.kind)
		}
		if row := fmt.Sprintf("| `%s` | %s | %s |\n", c.name, c.sentence, c.result); !strings.Contains(string(page), row) {
			t.Errorf("%s lacks %s", falseReadyPage, row)
		}
		all = append(all, c)
	}
	if rows := strings.Count(string(page), "\n| `"); rows != len(all) {
		t.Errorf("%s has %d rows, want %d", falseReadyPage, rows, len(all))
	}
	return all
}

func readCase(t *testing.T, path string) falseReadyCase {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := falseReadyCase{name: strings.TrimSuffix(filepath.Base(path), ".txtar"), options: map[string][]string{}, files: archive.Files}
	for i, line := range strings.Split(strings.TrimSpace(string(archive.Comment)), "\n") {
		name, value, _ := strings.Cut(line, ": ")
		switch i {
		case 0:
			c.sentence = line
		case 1:
			c.kind, c.result = name, value
		default:
			c.options[name] = append(c.options[name], value)
		}
	}
	return c
}

func (c falseReadyCase) file(name string) []byte {
	for _, file := range c.files {
		if file.Name == name {
			return file.Data
		}
	}
	return nil
}

// option returns the last line of the head with a name.
func (c falseReadyCase) option(name, otherwise string) string {
	if all := c.options[name]; len(all) > 0 {
		return all[len(all)-1]
	}
	return otherwise
}

func (c falseReadyCase) onGitHub() bool { return c.option("entry", "") == "github" }

// rounds returns how many iterations a script has.
func (c falseReadyCase) rounds() string {
	most := "1"
	for _, file := range c.files {
		parts := strings.Split(file.Name, "/")
		if parts[0] == "agent" && len(parts[1]) == 1 {
			most = max(most, parts[1])
		}
	}
	return c.option("rounds", most)
}

// outcome is the result of a case.
type outcome struct {
	result string // of the newest proof
	ready  bool
	done   bool // the hidden tests pass
	output string
}

// wrong returns what is wrong with an outcome, in ralph or in the case.
func (o outcome) wrong(c falseReadyCase) string {
	switch {
	case c.kind == lie && o.done:
		return "the hidden tests do not see the lie"
	case c.kind != lie && !o.done:
		return "the work is honest, and is not on the branch"
	case c.kind == honest && !o.ready:
		return "honest work is not called ready"
	case c.kind != honest && o.ready:
		return "ready, want a draft"
	case o.result != c.result:
		return "want result " + c.result
	}
	return ""
}
