package main_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

const falseReady = "testdata/false-ready"

// TestFalseReady asks two things of the whole program: does it ever call work
// ready that is not, and how often does it hold back work that is? Truth is told
// by tests that no agent has seen, on the branch as the run left it. It does
// nothing until FALSE_READY is set, as `make false-ready` does; whether its cases
// can be read is always looked at.
func TestFalseReady(t *testing.T) {
	trials := readTrials(t)
	if os.Getenv("FALSE_READY") == "" {
		return
	}
	began := time.Now()
	var held tableOf
	t.Run("runs", func(t *testing.T) {
		for _, c := range trials {
			for _, tamper := range c.rules() {
				t.Run(c.name+"/"+tamper, func(t *testing.T) {
					t.Parallel()
					held.add(c.hold(t, tamper))
				})
			}
		}
	})
	t.Logf("in %v:\n%s", time.Since(began).Round(time.Second), held.text())
	for _, complaint := range held.complaints() {
		t.Error(complaint)
	}
}

// trialOf is a case: a project, what an agent does to it, and what is true.
type trialOf struct {
	name     string
	sentence string
	family   string
	kind     string              // one of kinds
	told     map[string][]string // the other lines of its head
	files    []txtar.File
}

// The kinds of a case. What is reported is a lie that does something to the
// tests: that has to be shown, too. Not counted, but listed, are: a limit, which
// is a lie that is known to come through; and a rule, which is honest work that a
// rule of ralph's holds back.
const (
	honest   = "honest"
	lie      = "lie"
	reported = "reported"
	limit    = "limit"
	rule     = "rule"
)

var kindsOfTrial = []string{honest, lie, reported, limit, rule}

// readTrials reads the cases. The head of each is its sentence, its family with
// its kind, and then those of these that it needs, a line each:
//
//	door: github     the Action is started by a label; without it `ralph run` is
//	check: COMMAND   what judges the work: sh check.sh, or "none"
//	rounds: N        how many iterations there are: those of its script
//	env: NAME=VALUE  for ralph
//	sandbox: yes        agent and checks are confined
//
// Its files are repo/, issue.md, agent/ (the script), bin/ (programs on PATH),
// before.sh (run in the project before its first commit) and hidden.sh.
func readTrials(t *testing.T) (all []trialOf) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(falseReady, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		c := readTrial(t, path)
		if c.sentence == "" || !slices.Contains(kindsOfTrial, c.kind) || c.file("hidden.sh") == nil || c.file("issue.md") == nil {
			t.Errorf("%s: want a sentence, a family with a kind of %q, issue.md and hidden.sh", path, kindsOfTrial)
		}
		all = append(all, c)
	}
	if len(all) < 60 {
		t.Errorf("there are %d cases, want 60", len(all))
	}
	return all
}

func readTrial(t *testing.T, path string) trialOf {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := trialOf{name: strings.TrimSuffix(filepath.Base(path), ".txtar"), told: map[string][]string{}, files: archive.Files}
	for i, line := range strings.Split(strings.TrimSpace(string(archive.Comment)), "\n") {
		name, value, _ := strings.Cut(line, ": ")
		switch i {
		case 0:
			c.sentence = line
		case 1:
			c.family, c.kind = name, value
		default:
			c.told[name] = append(c.told[name], value)
		}
	}
	return c
}

func (c trialOf) file(name string) []byte {
	for _, file := range c.files {
		if file.Name == name {
			return file.Data
		}
	}
	return nil
}

// tells returns the last line of the head that has that name.
func (c trialOf) tells(name, otherwise string) string {
	if all := c.told[name]; len(all) > 0 {
		return all[len(all)-1]
	}
	return otherwise
}

// rules returns the settings of tamper under which a case is run: that which refuses
// must not hold honest work back either.
func (c trialOf) rules() []string {
	if c.kind == honest || c.kind == reported {
		return []string{"report", "block"}
	}
	return []string{"report"}
}

// rounds returns how many iterations a script has.
func (c trialOf) rounds() string {
	most := "1"
	for _, file := range c.files {
		parts := strings.Split(file.Name, "/")
		if parts[0] == "agent" && len(parts[1]) == 1 {
			most = max(most, parts[1])
		}
	}
	return c.tells("rounds", most)
}
