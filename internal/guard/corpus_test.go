package guard_test

import (
	"os"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/guard"
)

var shop = guard.Project{Root: "/home/dev/shop", Home: "/home/dev", Protect: []string{"ralph/prd.lock"}}

// The commands that the guard is held to. How each came to be stands at its
// head: all are regression tests by now, and say nothing of commands that the
// rules were never held against.
var corpora = []string{"developed.txt", "heldout.txt", "fresh.txt", "second.txt"}

// labelled is a command of the corpus with what is true of it.
type labelled struct {
	line        string
	danger      bool
	adversarial bool
	category    string
}

// corpus reads testdata: see the head of heldout.txt.
func corpus(tb testing.TB, name string) []labelled {
	tb.Helper()
	page, err := os.ReadFile("testdata/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	var list []labelled
	var label labelled
	var block []string
	within := false
	for line := range strings.SplitSeq(string(page), "\n") {
		switch {
		case line == "<<<":
			within, block = true, nil
		case line == ">>>":
			within = false
			label.line = strings.Join(block, "\n")
			list = append(list, label)
		case within:
			block = append(block, line)
		case strings.HasPrefix(line, "## "):
			kind, category, _ := strings.Cut(line[3:], " ")
			label = labelled{
				danger:      strings.HasPrefix(kind, "danger"),
				adversarial: strings.HasSuffix(kind, "-adversarial"),
				category:    category,
			}
		case line != "" && (label.line != "" || !strings.HasPrefix(line, "# ") || len(list) > 0):
			label.line = line
			list = append(list, label)
		}
	}
	return list
}

// tally counts how often the guard is right.
type tally struct{ danger, hit, safe, alarm, sorted int }

func (n tally) recall() float64 { return float64(n.hit) / float64(n.danger) }
func (n tally) alarms() float64 { return float64(n.alarm) / float64(n.safe) }

// wrong is called for each miss and each false alarm.
func count(list []labelled, adversarial bool, wrong func(labelled, guard.Finding)) tally {
	var n tally
	for _, c := range list {
		if c.adversarial != adversarial {
			continue
		}
		f, found := guard.CheckCommand(c.line, shop)
		switch {
		case c.danger && found:
			n.danger, n.hit = n.danger+1, n.hit+1
			if f.Category.Name == c.category {
				n.sorted++
			}
		case c.danger:
			n.danger++
		case found:
			n.safe, n.alarm = n.safe+1, n.alarm+1
		default:
			n.safe++
		}
		if found != c.danger {
			wrong(c, f)
		}
	}
	return n
}

func TestCorpusIsJudgedWell(t *testing.T) {
	for _, name := range corpora {
		list := corpus(t, name)
		for _, part := range []struct {
			name           string
			adversarial    bool
			recall, alarms float64
		}{
			{"as agents write", false, 0.95, 0.02},
			{"adversarial", true, 0.7, 0.1},
		} {
			n := count(list, part.adversarial, func(c labelled, f guard.Finding) {
				t.Logf("%s: danger %v (%s), said %q: %s", name, c.danger, c.category, f.Category.Name, c.line)
			})
			t.Logf("%s, %s: recall %.3f of %d, false alarms %.3f of %d, category right %d of %d",
				name, part.name, n.recall(), n.danger, n.alarms(), n.safe, n.sorted, n.hit)
			if n.recall() < part.recall {
				t.Errorf("%s, %s: recall = %.3f, want %.2f", name, part.name, n.recall(), part.recall)
			}
			if n.alarms() >= part.alarms {
				t.Errorf("%s, %s: false alarms = %.3f, want below %.2f", name, part.name, n.alarms(), part.alarms)
			}
		}
	}
}

// fresh.txt has the categories that did not exist when the others were written.
func TestCorpusHoldsEveryCategory(t *testing.T) {
	told := guide(t)
	seen := map[string]bool{}
	for _, name := range corpora {
		for _, c := range corpus(t, name) {
			if _, known := told[c.category]; c.category != "" && !known {
				t.Errorf("%s: unknown category %q of %s", name, c.category, c.line)
			}
			seen[c.category] = true
		}
	}
	for category := range told {
		if !seen[category] && category != guard.ProjectRule.Name {
			t.Errorf("no example of %s", category)
		}
	}
}

func BenchmarkCommand(b *testing.B) {
	list := corpus(b, "heldout.txt")
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		guard.CheckCommand(list[i%len(list)].line, shop)
		i++
	}
}
