package tally

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// jest reads jest's default reporter. Its report names the failed tests. Its list, which jest prints for a single
// file or with --verbose, names the passed ones.
type jest struct {
	results

	file     string
	listed   bool // the list of the file's tests has ended
	repeated bool // in the summary, which repeats failures
	path     nesting
}

var (
	jestFile    = pattern.Of(`^ ?(PASS|FAIL) +(\S.*?)(?: \([\d.]+ m?s\))?$`)
	jestTick    = pattern.Of(`^([✓√✕×○✎]) (?:skipped |todo )?(.+)$`)
	jestFailure = pattern.Of(`^  ● (\S.*)$`)
	jestCrash   = pattern.Of(`^ {4}(A jest worker process \(pid=|Jest worker encountered \d+ child process exceptions)`)
	jestSum     = pattern.Of(`^Tests: +(.*\d+ total)$`)
	duration    = pattern.Of(` ?\(?\b\d+(?:\.\d+)? ?m?s\)?$`)
	jestTimed   = pattern.Of(` \(\d+(?:\.\d+)? m?s\)$`)
	anyCount    = pattern.Of(`(\d{1,9}) (passed|failed|skipped|todo)`)
)

func (j *jest) line(text string) {
	switch {
	case strings.HasPrefix(text, "Summary of all failing tests"):
		j.repeated = true
	case strings.HasPrefix(text, "Tests: "):
		j.sum(text)
	case strings.HasPrefix(text, "Jest: ") && strings.Contains(text, "threshold"):
		j.addOnce(text[:strings.Index(text, "threshold")], Broken)
	case strings.HasPrefix(text, "FAIL ") || strings.HasPrefix(text, "PASS "):
		if m := jestFile.FindStringSubmatch(text); m != nil {
			j.file, j.listed, j.path = m[2], false, nil
		}
	case j.file != "" && jestCrash.MatchString(text):
		j.addOnce(j.file+didNotEnd, Broken)
	case strings.HasPrefix(text, "  ● "):
		j.listed = true
		if m := jestFailure.FindStringSubmatch(text); m != nil && j.file != "" && !j.repeated {
			j.failure(m[1])
		}
	case j.file != "" && !j.listed && !j.repeated:
		j.item(text)
	}
}

func (j *jest) failure(name string) {
	switch name {
	case "Console":
	case "Test suite failed to run":
		j.add(j.file, Broken)
	default:
		j.add(j.file+separator+strings.ReplaceAll(name, " › ", separator), Failed)
	}
}

func (j *jest) item(text string) {
	body := strings.TrimLeft(text, " ")
	indent := len(text) - len(body)
	if body == "" || indent < 2 {
		j.listed = j.listed || body != ""
		return
	}
	m := jestTick.FindStringSubmatch(body)
	if m == nil {
		j.path.enter(indent, body)
		return
	}
	j.path.enter(indent, jestTimed.ReplaceAllString(m[2], ""))
	switch m[1] {
	case "✓", "√":
		j.add(j.file+separator+j.path.String(), Passed)
	case "○", "✎":
		j.add(j.file+separator+j.path.String(), Skipped)
	}
	j.path.leave()
}

func (j *jest) sum(text string) {
	m := jestSum.FindStringSubmatch(text)
	if m == nil {
		return
	}
	j.recognized, j.repeated, j.file = true, false, ""
	j.addCounts(m[1])
}

func (s *results) addCounts(text string) {
	for _, m := range anyCount.FindAllStringSubmatch(text, 6) {
		s.addCount(map[string]Outcome{"passed": Passed, "failed": Failed, "skipped": Skipped, "todo": Skipped}[m[2]], number(m[1]))
	}
}

type vitest struct {
	results
}

var (
	vitestFailure   = pattern.Of(`^ FAIL  (\S.*)$`)
	vitestTick      = pattern.Of(`^ ([✓√↓□]) (\S+ > .+)$`)
	vitestSum       = pattern.Of(`^ +Tests  (?:no tests|(.*\d+ (?:passed|failed|skipped|todo).*)) ?(?:\(\d+\))?$`)
	vitestFile      = pattern.Of(`^ +Test Files  .*\d+ (?:passed|failed|skipped)`)
	vitestUnhandled = pattern.Of(`^Vitest caught \d+ unhandled error`)
)

func (v *vitest) line(text string) {
	switch {
	case strings.HasPrefix(text, " FAIL "):
		if m := vitestFailure.FindStringSubmatch(text); m != nil {
			v.failure(m[1])
		}
	case strings.HasPrefix(text, "Vitest caught "):
		if vitestUnhandled.MatchString(text) {
			v.addOnce(unhandled, Broken)
		}
	case strings.HasPrefix(text, " ") && strings.Contains(text, " Tests  "):
		if m := vitestSum.FindStringSubmatch(text); m != nil {
			v.recognized = true
			v.addCounts(m[1])
		}
	case strings.HasPrefix(text, " ") && strings.Contains(text, " Test Files  "):
		v.recognized = v.recognized || vitestFile.MatchString(text)
	case strings.HasPrefix(text, " ") && strings.Contains(text, separator):
		if m := vitestTick.FindStringSubmatch(text); m != nil {
			v.add(duration.ReplaceAllString(m[2], ""), map[bool]Outcome{true: Passed, false: Skipped}[m[1] == "✓" || m[1] == "√"])
		}
	}
}

// failure adds a failed test, or a file that failed to load: "file [ file ]".
func (v *vitest) failure(name string) {
	if head, _, found := strings.Cut(name, " [ "); found && !strings.Contains(head, separator) {
		v.add(head, Broken)
		return
	}
	v.add(name, Failed)
}
