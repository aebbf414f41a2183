package eval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/show/result"
)

// Row is what became of a task.
type Row struct {
	ID       string   `json:"id"`
	Agent    string   `json:"agent"`
	Base     string   `json:"base"`
	Commit   string   `json:"commit,omitempty"`
	Title    string   `json:"title"`
	Status   string   `json:"status,omitempty"` // of the run
	Result   string   `json:"result,omitempty"`
	Proven   bool     `json:"proven"`
	Untested int      `json:"untested"` // places that no test needs
	Hidden   bool     `json:"hidden_tests_passed"`
	False    bool     `json:"falsely_ready"` // proven, and hidden tests fail
	Held     bool     `json:"held_back"`     // not proven, and hidden tests pass
	Missed   []string `json:"missed,omitempty"`
	Why      string   `json:"why,omitempty"` // it is not proven
	CostUSD  float64  `json:"cost_usd"`
	Seconds  float64  `json:"seconds"`
	Aside    string   `json:"set_aside,omitempty"` // why it shows nothing
	Error    string   `json:"error,omitempty"`     // why it could not be tried
}

func (r *Row) take(of result.Result) {
	r.Status = string(of.Status)
	r.CostUSD = policy.Given(of.TotalCostUSD, 0)
	for _, story := range of.Stories { // a task is one story
		r.Result = string(story.Result)
		r.Proven = story.Proven
		r.Why = story.Why
		r.Untested = story.Untested
	}
	if !r.Proven && r.Why == "" {
		r.Why = strings.TrimSpace(string(of.StopReason))
	}
}

const mostMissed = 20

// compare sets what the hidden tests that do not pass mean beside the proof.
func (r *Row) compare(missed []string) {
	r.Hidden = len(missed) == 0
	r.False = r.Proven && !r.Hidden
	r.Held = !r.Proven && r.Hidden
	r.Missed = missed[:min(len(missed), mostMissed)]
}

// Rows reads rows, one a line. A last one that was cut off is left out: its task is tried again.
func Rows(data []byte) []Row {
	var rows []Row
	for line := range bytes.Lines(data) {
		var row Row
		if json.Unmarshal(line, &row) == nil && row.ID != "" {
			rows = append(rows, row)
		}
	}
	return rows
}

// Sum is what became of all tasks.
type Sum struct {
	Tasks    int     `json:"tasks"`
	Aside    int     `json:"set_aside"` // the base passes their hidden tests
	Tried    int     `json:"tried"`
	Proven   int     `json:"proven"`
	Hidden   int     `json:"hidden_tests_passed"`
	Solved   int     `json:"solved"` // proven, and hidden tests pass
	False    int     `json:"falsely_ready"`
	Held     int     `json:"held_back"`
	Untested int     `json:"with_untested"` // that have lines which no test needs
	CostUSD  float64 `json:"cost_usd"`
	Seconds  float64 `json:"seconds"`
	Rows     []Row   `json:"rows"`
}

// Add sums up rows of so many tasks.
func Add(tasks int, rows []Row) Sum {
	s := Sum{Tasks: tasks, Rows: append([]Row{}, rows...)}
	for _, row := range rows {
		s.CostUSD += row.CostUSD
		s.Seconds += row.Seconds
		count(&s.Aside, row.Aside != "")
		if !row.tried() {
			continue
		}
		s.Tried++
		count(&s.Proven, row.Proven)
		count(&s.Hidden, row.Hidden)
		count(&s.Solved, row.Proven && row.Hidden)
		count(&s.False, row.False)
		count(&s.Held, row.Held)
		count(&s.Untested, row.Untested > 0)
	}
	return s
}

func (r Row) tried() bool { return r.Error == "" && r.Aside == "" }

func count(n *int, counts bool) {
	if counts {
		*n++
	}
}

// Text returns a table for people.
func (s Sum) Text() string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TASK\tPROVEN\tHIDDEN TESTS\tCOST\tTIME\tTITLE")
	for _, r := range s.Rows {
		fmt.Fprintf(table, "%s\t%s\t%s\t$%.2f\t%s\t%s\n",
			r.ID, r.verdict(), r.hidden(), r.CostUSD, short(r.Seconds), git.OneLine(r.Title, 50))
	}
	_ = table.Flush() // to memory
	return b.String() + "\n" + s.Line() + "\n"
}

// Line returns all tasks in a sentence.
func (s Sum) Line() string {
	aside := ""
	if s.Aside > 0 {
		aside = fmt.Sprintf(", %d skipped", s.Aside)
	}
	return fmt.Sprintf("%d of %d tasks tried%s: ", s.Tried, s.Tasks, aside) +
		fmt.Sprintf("%d proven, %d with hidden tests that pass, %d both; ", s.Proven, s.Hidden, s.Solved) +
		fmt.Sprintf("%d false positives, %d false negatives, ", s.False, s.Held) +
		fmt.Sprintf("%d with lines that no test needs. ", s.Untested) +
		fmt.Sprintf("$%.2f, %s.", s.CostUSD, short(s.Seconds))
}

// hidden returns what the hidden tests say, and what that means beside the verdict.
func (r Row) hidden() string {
	switch {
	case !r.tried():
		return "-"
	case r.False:
		return "fail: FALSE POSITIVE"
	case r.Held:
		return "pass: false negative"
	case r.Hidden:
		return "pass"
	}
	return "fail"
}

// Line returns a row in words.
func (r Row) Line() string {
	if !r.tried() {
		return r.ID + ": " + r.verdict()
	}
	return fmt.Sprintf("%s: proven: %s; hidden tests %s; %s",
		r.ID, r.verdict(), strings.ToLower(r.hidden()), short(r.Seconds))
}

func (r Row) verdict() string {
	switch {
	case r.Error != "":
		return "not tried: " + git.OneLine(r.Error, 80)
	case r.Aside != "":
		return "skipped: " + r.Aside
	case r.Proven:
		return "yes"
	case r.Result != "":
		return "no: " + r.Result
	}
	return "no: " + git.OneLine(r.Why, 60)
}

func short(seconds float64) string {
	return policy.FormatDuration(time.Duration(seconds * float64(time.Second)))
}
