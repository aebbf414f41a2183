package tally

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// jest reads jest's own reporter: its report names what failed, its list, which it prints for one file or when
// verbose, what passed.
type jest struct {
	sheet

	file   string
	listed bool // the list of the file's tests is over
	again  bool // what follows was told before
	path   branch
}

var (
	jestFile  = pattern.Of(`^ ?(PASS|FAIL) +(\S.*?)(?: \([\d.]+ m?s\))?$`)
	jestTick  = pattern.Of(`^([✓√✕×○✎]) (?:skipped |todo )?(.+)$`)
	jestRed   = pattern.Of(`^  ● (\S.*)$`)
	jestSum   = pattern.Of(`^Tests: +(.*\d+ total)$`)
	duration  = pattern.Of(` ?\(?\b\d+(?:\.\d+)? ?m?s\)?$`)
	jestTimed = pattern.Of(` \(\d+(?:\.\d+)? m?s\)$`)
	anyCount  = pattern.Of(`(\d{1,9}) (passed|failed|skipped|todo)`)
)

func (j *jest) line(text string) {
	switch {
	case strings.HasPrefix(text, "Summary of all failing tests"):
		j.again = true
	case strings.HasPrefix(text, "Tests: "):
		j.sum(text)
	case strings.HasPrefix(text, "Jest: ") && strings.Contains(text, "threshold"):
		j.set(text[:strings.Index(text, "threshold")], Broken)
	case strings.HasPrefix(text, "FAIL ") || strings.HasPrefix(text, "PASS "):
		if m := jestFile.FindStringSubmatch(text); m != nil {
			j.file, j.listed, j.path = m[2], false, nil
		}
	case strings.HasPrefix(text, "  ● "):
		j.listed = true
		if m := jestRed.FindStringSubmatch(text); m != nil && j.file != "" && !j.again {
			j.red(m[1])
		}
	case j.file != "" && !j.listed && !j.again:
		j.item(text)
	}
}

func (j *jest) red(name string) {
	switch name {
	case "Console":
	case "Test suite failed to run":
		j.add(j.file, Broken)
	default:
		j.add(j.file+between+strings.ReplaceAll(name, " › ", between), Failed)
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
		j.add(j.file+between+j.path.String(), Passed)
	case "○", "✎":
		j.add(j.file+between+j.path.String(), Skipped)
	}
	j.path.leave()
}

func (j *jest) sum(text string) {
	m := jestSum.FindStringSubmatch(text)
	if m == nil {
		return
	}
	j.seen, j.again, j.file = true, false, ""
	j.tellAll(m[1])
}

func (s *sheet) tellAll(text string) {
	for _, m := range anyCount.FindAllStringSubmatch(text, 6) {
		s.tell(map[string]Outcome{"passed": Passed, "failed": Failed, "skipped": Skipped, "todo": Skipped}[m[2]], number(m[1]))
	}
}

type vitest struct {
	sheet
}

var (
	vitestRed  = pattern.Of(`^ FAIL  (\S.*)$`)
	vitestTick = pattern.Of(`^ ([✓√↓□]) (\S+ > .+)$`)
	vitestSum  = pattern.Of(`^ +Tests  (?:no tests|(.*\d+ (?:passed|failed|skipped|todo).*)) ?(?:\(\d+\))?$`)
	vitestFile = pattern.Of(`^ +Test Files  .*\d+ (?:passed|failed|skipped)`)
	vitestOdd  = pattern.Of(`^Vitest caught \d+ unhandled error`)
)

func (v *vitest) line(text string) {
	switch {
	case strings.HasPrefix(text, " FAIL "):
		if m := vitestRed.FindStringSubmatch(text); m != nil {
			v.red(m[1])
		}
	case strings.HasPrefix(text, "Vitest caught "):
		if vitestOdd.MatchString(text) {
			v.set("an unhandled error", Broken)
		}
	case strings.HasPrefix(text, " ") && strings.Contains(text, " Tests  "):
		if m := vitestSum.FindStringSubmatch(text); m != nil {
			v.seen = true
			v.tellAll(m[1])
		}
	case strings.HasPrefix(text, " ") && strings.Contains(text, " Test Files  "):
		v.seen = v.seen || vitestFile.MatchString(text)
	case strings.HasPrefix(text, " ") && strings.Contains(text, between):
		if m := vitestTick.FindStringSubmatch(text); m != nil {
			v.add(duration.ReplaceAllString(m[2], ""), map[bool]Outcome{true: Passed, false: Skipped}[m[1] == "✓" || m[1] == "√"])
		}
	}
}

// red notes what failed: a test, or a file as "file [ file ]".
func (v *vitest) red(name string) {
	if head, _, found := strings.Cut(name, " [ "); found && !strings.Contains(head, between) {
		v.add(head, Broken)
		return
	}
	v.add(name, Failed)
}
