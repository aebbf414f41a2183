package plan_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/plan"
)

// Audit requires notes of passed stories, and all keys.
func TestAudit(t *testing.T) {
	const whole = `{"project":"","branchName":"","description":"","userStories":[` +
		`{"id":"US-001","title":"one","acceptanceCriteria":["works"],"priority":1,"passes":true,"notes":"done in main.go"},` +
		`{"id":"US-002","title":"two","acceptanceCriteria":["works"],"priority":2,"passes":false,"notes":""}]}`
	tests := map[string]struct{ without, want string }{
		"complete":   {"", ""},
		"no project": {`"project":"",`, "prd.json:1: project: missing"},
		"no passes":  {`,"passes":true`, "prd.json:1: userStories[0].passes (US-001): missing"},
		"no notes": {
			`done in main.go`,
			"prd.json:1: userStories[0].notes (US-001): passes without notes, want what was done",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if _, err := plan.Audit("prd.json", []byte(strings.Replace(whole, test.without, "", 1))); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("Audit = %q, want %q", got, test.want)
			}
		})
	}
}

func TestReadRefusesTooMuch(t *testing.T) {
	many := make([]string, 201)
	for i := range many {
		many[i] = fmt.Sprintf(`{"id":"US-%d","title":"t","acceptanceCriteria":["c"]}`, i)
	}
	if _, err := plan.Read("prd.json", []byte(`{"userStories":[`+strings.Join(many[:200], ",")+`]}`)); err != nil {
		t.Errorf("Read: %v, want no error for as many as may be", err)
	}
	tests := map[string]struct{ data, want string }{
		"bytes":   {strings.Repeat(" ", 1<<20+1), "prd.json: found 1048577 bytes, want at most 1048576"},
		"stories": {`{"userStories":[` + strings.Join(many, ",") + `]}`, "prd.json:1: userStories: found 201 items, want at most 200"},
		"levels":  {`{"notebook":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, "prd.json: nested deeper than 32 levels"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := plan.Read("prd.json", []byte(test.data)); err == nil || err.Error() != test.want {
				t.Errorf("Read: %v, want %s", err, test.want)
			}
		})
	}
}

// An error shows control characters of the file in a form that a terminal does not interpret.
func TestReadSaysWhatIsWrong(t *testing.T) {
	for data, want := range map[string]string{
		`{"project":"shop"}`:  "prd.json:1: userStories: missing",
		"{\n\"a\": \"\xff\"}": "prd.json:2: found a byte that is not UTF-8, want text",
		`{"userStories":[{"id":"US-001","title":"a","acceptanceCriteria":["b"],"note\u001b":"x"}]}`: "prd.json:1: userStories[0].note  (US-001): unknown key, did you mean \"notes\"?",
		`{"userStories":[{"id":"US-001","title":"a","acceptanceCriteria":[]}]}`:                     "prd.json:1: userStories[0].acceptanceCriteria (US-001): empty, want at least one",
		`{"userStories":7}`: "prd.json:1: userStories: found 7, want a list",
		`{"project":{},"userStories":[{"id":"US-001","title":"a","acceptanceCriteria":["b"]}]}`:           "prd.json:1: project: found an object, want a string",
		`{"userStories":[{"id":"US-001","title":"a","acceptanceCriteria":["b"],"testedBy":["TestB",3]}]}`: "prd.json:1: userStories[0].testedBy[1] (US-001): found 3, want a string",
		`{"a":[1,]}`: "prd.json:1:9: broken JSON: invalid character ']' looking for beginning of value (no comma after the last one)",
	} {
		if _, err := plan.Read("prd.json", []byte(data)); err == nil || err.Error() != want {
			t.Errorf("Read(%s): %v, want %s", data, err, want)
		}
	}
	if _, err := plan.Read("prd.json", []byte(`{"userStories":[{"id":"US-001","title":"\uFFFD","acceptanceCriteria":["�"]}]}`)); err != nil {
		t.Errorf("Read: %v, want no error for a replacement character that somebody wrote", err)
	}
}

func TestInvalidListsTwenty(t *testing.T) {
	data := `{"userStories":[` + strings.Repeat("1,", 24) + `1]}`
	_, err := plan.Read("prd.json", []byte(data))
	if _, is := errors.AsType[*plan.Invalid](err); !is {
		t.Fatalf("Read: %v, want an *Invalid", err)
	}
	lines := strings.Split(err.Error(), "\n")
	if got, want := len(lines), 22; got != want {
		t.Fatalf("Error = %d lines, want %d:\n%s", got, want, err)
	}
	if lines[0] != "prd.json is not a valid plan: 25 problems" || lines[21] != "and 5 more" {
		t.Errorf("Error = %q … %q, want a summary and how many are left out", lines[0], lines[21])
	}
}
