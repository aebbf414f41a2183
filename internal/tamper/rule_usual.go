package tamper

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// usually is what pytest and jest take for tests where nobody says so.
var usually = map[string]*pattern.Pattern{
	"python_functions": pattern.Of(`^(test_?\*?|\*)$`), "python_classes": pattern.Of(`^(Test\*?|\*)$`), "python_files": pattern.Of(`^(test_?\*(\.py)?|\*(_test)?\.py|tests\.py)$`),
}

// strayed are the values of a setting that was not made before, where what was
// taken for a test until then is none any more.
func strayed(key string, was, now []string) []string {
	form := usually[last(key)]
	if form == nil || len(was) > 0 || len(now) == 0 {
		return nil
	}
	if slices.ContainsFunc(strings.Fields(strings.Join(now, " ")), form.MatchString) {
		return nil
	}
	return now
}
