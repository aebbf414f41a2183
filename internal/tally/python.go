package tally

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// pytest reads the progress lines of pytest -v and the short test summary.
type pytest struct {
	results

	began, ended bool
	summary      bool
}

var (
	pyProgress = pattern.Of(`^(\S.*?::.*) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)(?: \(.*\))? +\[ *\d+%\]$`)
	pyWorker   = pattern.Of(`^\[gw\d+\] \[ *\d+%\] (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (.*::.*)$`)
	pySummary  = pattern.Of(`^(PASSED|FAILED|ERROR|XPASS|XFAIL) (\S.*)$`)
	pyCounts   = pattern.Of(`^(?:=+ )?((?:\d+ [a-z]+(?:, )?)+|no tests ran) in [\d.]+s(?: \([\d:]+\))?(?: =+)?$`)
	pyCount    = pattern.Of(`(\d{1,9}) (passed|failed|skipped|xpassed)`)
	pyOutcomes = map[string]Outcome{"PASSED": Passed, "XPASS": Passed, "FAILED": Failed, "ERROR": Failed, "SKIPPED": Skipped, "XFAIL": Skipped}
)

func (p *pytest) line(text string) {
	switch {
	case strings.HasPrefix(text, "=") && strings.Contains(text, " test session starts "):
		p.began, p.ended, p.recognized, p.summary = true, false, true, false
	case strings.HasPrefix(text, "=") && strings.Contains(text, " short test summary info "):
		p.summary, p.recognized = true, true
	case strings.HasPrefix(text, "INTERNALERROR>"):
		p.addOnce("an internal error of pytest", Broken)
	case strings.HasPrefix(text, "!!!") && !strings.Contains(text, "error during collection") && !strings.Contains(text, "errors during collection"):
		p.addOnce(strings.Trim(text, "! "), Broken)
	case strings.Contains(text, "Required test coverage of "):
		if strings.Contains(text, " not reached") {
			p.addOnce("the required coverage", Broken)
		}
	case strings.HasSuffix(text, "%]"):
		p.progress(text)
	case strings.Contains(text, " in ") && mayEndSession(text) && pyCounts.MatchString(text):
		p.count(text)
	case p.summary:
		p.short(text)
	case strings.HasPrefix(text, "[gw"):
		p.progress(text)
	}
}

// mayEndSession reports whether a line begins like the last line of a session.
func mayEndSession(text string) bool {
	return text[0] == '=' || text[0] >= '0' && text[0] <= '9' || strings.HasPrefix(text, "no tests ran")
}

func (p *pytest) progress(text string) {
	if m := pyProgress.FindStringSubmatch(text); m != nil {
		p.addOnce(m[1], pyOutcomes[m[2]])
	} else if m := pyWorker.FindStringSubmatch(text); m != nil {
		p.addOnce(m[2], pyOutcomes[m[1]])
	}
}

// short reads a line of the short test summary. A line without a test names a file that pytest could not load.
func (p *pytest) short(text string) {
	m := pySummary.FindStringSubmatch(text)
	if m == nil {
		return
	}
	name, outcome := testID(m[2]), pyOutcomes[m[1]]
	if outcome == Failed && !strings.Contains(name, "::") {
		outcome = Broken
	}
	p.addOnce(name, outcome)
}

// testID returns a test's id without the reason after " - ". Parameters may contain " - " too.
func testID(text string) string {
	head, _, _ := strings.Cut(text, " - ")
	if !strings.Contains(head, "[") {
		return head
	}
	if i := strings.Index(text, "] - "); i >= 0 {
		return text[:i+1]
	}
	if strings.HasSuffix(text, "]") {
		return text
	}
	return head
}

func (p *pytest) count(text string) {
	p.ended, p.summary = true, false
	for _, m := range pyCount.FindAllStringSubmatch(text, 4) {
		n := number(m[1])
		p.recognized = true
		p.addCount(map[string]Outcome{"passed": Passed, "xpassed": Passed, "failed": Failed, "skipped": Skipped}[m[2]], n)
	}
}

func (p *pytest) end() *results {
	if p.began && !p.ended {
		p.add("a session that"+didNotEnd, Broken)
	}
	failed := map[string]bool{}
	for _, test := range p.tests {
		failed[test.Name] = failed[test.Name] || test.Outcome == Failed
	}
	p.tests = slices.DeleteFunc(p.tests, func(t Test) bool { return t.Outcome == Passed && failed[t.Name] })
	return &p.results
}

// unittest reads python -m unittest and runners that extend it.
type unittest struct {
	results

	ruled bool // the previous line was a rule of "="
	ran   int
}

var (
	unitFailed = pattern.Of(`^(?:FAIL|ERROR): (\S.*)$`)
	unitPassed = pattern.Of(`^(\S+ \([\w.]+\))(?: \.\.\.|.* \.\.\.) (ok|skipped .*|expected failure)$`)
	unitRan    = pattern.Of(`^Ran (\d{1,9}) tests? in [\d.]+s$`)
	unitSum    = pattern.Of(`^(?:OK|FAILED)(?: \((.*)\))?$`)
	unitCount  = pattern.Of(`(failures|errors|skipped|expected failures|unexpected successes)=(\d{1,9})`)
)

func (u *unittest) line(text string) {
	ruled := u.ruled
	u.ruled = len(text) == 70 && strings.Trim(text, "=") == ""
	switch {
	case ruled:
		if m := unitFailed.FindStringSubmatch(text); m != nil {
			u.failure(m[1])
		}
	case strings.HasPrefix(text, "Ran "):
		if m := unitRan.FindStringSubmatch(text); m != nil {
			u.ran = number(m[1])
			u.recognized = true
		}
	case u.ran > 0 && (strings.HasPrefix(text, "OK") || strings.HasPrefix(text, "FAILED")):
		u.sum(text)
	case strings.Contains(text, " ... "):
		if m := unitPassed.FindStringSubmatch(text); m != nil {
			u.add(m[1], map[bool]Outcome{true: Passed, false: Skipped}[m[2] == "ok"])
		}
	}
}

// failure adds a failed test, or a module that failed to load.
func (u *unittest) failure(name string) {
	if strings.Contains(name, "unittest.loader._FailedTest") {
		u.add(name, Broken)
		return
	}
	u.add(name, Failed)
}

func (u *unittest) sum(text string) {
	m := unitSum.FindStringSubmatch(text)
	if m == nil {
		return
	}
	passed := u.ran
	for _, count := range unitCount.FindAllStringSubmatch(m[1], 5) {
		n := number(count[2])
		passed -= n
		switch count[1] {
		case "skipped":
			u.addCount(Skipped, n)
		case "failures", "errors":
			u.addCount(Failed, n)
		}
	}
	u.addCount(Passed, max(passed, 0))
	u.ran = 0
}
