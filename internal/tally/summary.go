package tally

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// Summary is the name of runners that name no test that passes, and end with a line of counts.
const Summary = "summary"

// summary reads the last line of Maven, rspec, ExUnit, minitest, test-unit and PHPUnit. ExUnit counts what it excludes
// as tests, too.
type summary struct{ results }

var (
	lastLine = pattern.Of(`^(?:\[[A-Z]+\] )?Tests run: \d{1,9}(?:, [A-Z][a-z]+: \d{1,9})+$|^\d{1,9} (?:examples?|(?:doc)?tests?|runs|propert[a-z]+), (?:\d{1,9} [a-z]+, )*\d{1,9} [a-z]+$|^OK \(\d{1,9} tests?, \d{1,9} assertions?\)$|^Tests: \d{1,9}, Assertions: \d{1,9}(?:, [A-Z][A-Za-z ]+: \d{1,9})*\.$`)
	counted  = pattern.Of(`(example|doctest|test|run|propert|fail|error|skip|pend|incomplete|omission|exclu)[a-z]*:? (\d{1,9})|(\d{1,9}) (example|doctest|test|run|propert|fail|error|skip|pend|incomplete|omission|exclu)`)
)

func (s *summary) line(text string) {
	if text == "" || !strings.ContainsAny(text[:1], "[TO0123456789") || !lastLine.MatchString(text) {
		return
	}
	s.recognized = true
	for _, m := range counted.FindAllStringSubmatch(strings.ToLower(text), -1) {
		n := number(m[2] + m[3])
		switch m[1] + m[4] {
		case "example", "doctest", "test", "run", "propert":
			s.addCount(Passed, n)
		case "fail", "error":
			s.addCount(Passed, -n)
			s.addCount(Failed, n)
		default:
			s.addCount(Passed, -n)
			s.addCount(Skipped, n)
		}
	}
}
