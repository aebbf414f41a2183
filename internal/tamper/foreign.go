package tamper

import (
	"bytes"
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// foreignTest are the tests of other languages, by name or by folder.
var foreignTest = pattern.Of(`(_test|_spec)\.(rb|exs|dart|cc|cpp|c|clj|zig|ml|sh|cr|lua)$|(^|/)test_[^/]*\.(rb|c|cc|cpp|sh)$|(Test|Tests|TestCase|IT|Spec)\.(java|kt|kts|scala|groovy|cs|fs|vb|php|swift|m)$|\.(bats|t)$|(^|/)(tests?|specs?|e2e|[^/]+\.Tests?)/([^/]+/)*[^/]+\.(sh|bash|rb|rs|java|kt|cs|php|swift|ex|exs|lua|pl|r|R|jl|c|cc|cpp|feature|robot)$`)

// foreign reports tests in languages that nobody here reads, of which nothing is
// left: neither most of their lines elsewhere, nor what they were about.
func (r *report) foreign() {
	var came []map[string]bool // with each change, once they were asked for
	for _, c := range r.changes {
		if c.After != nil || c.Unread || languageOf(c.Path) != noLanguage || !foreignTest.MatchString(c.Path) || fixtureName.MatchString(c.Path) || noFolder.MatchString(c.Path) {
			continue
		}
		if came == nil {
			for _, other := range r.changes {
				came = append(came, fresh(other))
			}
		}
		if len(bytes.TrimSpace(c.Before)) > 0 && !stands(c, came) && !r.pointless(c) {
			r.add(Finding{c.Path, TestDeleted, pick(c.Before, false, 1), "the file of tests " + short(c.Path, maxName) + " is gone"})
		}
	}
}

// stands tells whether most of what a file said came elsewhere.
func stands(c Change, came []map[string]bool) bool {
	was := lines(c.Before)
	for _, there := range came {
		n := 0
		for line := range was {
			if there[line] {
				n++
			}
		}
		if n*2 > len(was) {
			return true
		}
	}
	return false
}

// fresh are the lines that came with a change.
func fresh(c Change) map[string]bool {
	now := lines(c.After)
	for line := range lines(c.Before) {
		delete(now, line)
	}
	return now
}

// pointless tells whether a test speaks of a file that went with it.
func (r *report) pointless(c Change) bool {
	for _, other := range r.changes {
		base := path.Base(other.Path)
		if other.After == nil && !foreignTest.MatchString(other.Path) && (bytes.Contains(c.Before, []byte(base)) || strings.Contains(path.Base(c.Path), strings.TrimSuffix(base, path.Ext(base)))) {
			return true
		}
	}
	return false
}

func lines(text []byte) map[string]bool {
	all := map[string]bool{}
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			all[string(line)] = true
		}
	}
	return all
}
