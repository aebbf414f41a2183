package pattern_test

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// A pattern answers as the expression does.
func TestPattern(t *testing.T) {
	const text = `(\w+)@(\w+)`
	p, want := pattern.Of(text), regexp.MustCompile(text)
	swap := func(found string) string { return "<" + found + ">" }
	for _, s := range []string{"", "none", "ada@shop and mia@shop", "a@b"} {
		for name, pair := range map[string][2]any{
			"MatchString":             {p.MatchString(s), want.MatchString(s)},
			"FindString":              {p.FindString(s), want.FindString(s)},
			"FindStringIndex":         {p.FindStringIndex(s), want.FindStringIndex(s)},
			"FindStringSubmatch":      {p.FindStringSubmatch(s), want.FindStringSubmatch(s)},
			"FindStringSubmatchIndex": {p.FindStringSubmatchIndex(s), want.FindStringSubmatchIndex(s)},
			"FindAllString":           {p.FindAllString(s, 1), want.FindAllString(s, 1)},
			"FindAllStringSubmatch":   {p.FindAllStringSubmatch(s, -1), want.FindAllStringSubmatch(s, -1)},
			"ReplaceAllString":        {p.ReplaceAllString(s, "$2"), want.ReplaceAllString(s, "$2")},
			"ReplaceAllStringFunc":    {p.ReplaceAllStringFunc(s, swap), want.ReplaceAllStringFunc(s, swap)},
		} {
			if d := cmp.Diff(pair[1], pair[0]); d != "" {
				t.Errorf("%s of %q (-want +got):\n%s", name, s, d)
			}
		}
	}
}

// A malformed expression is found when it is used, not when the program starts.
func TestPatternIsCompiledOnUse(t *testing.T) {
	p := pattern.Of(`(`)
	defer func() {
		if recover() == nil {
			t.Error("a malformed expression matches")
		}
	}()
	p.MatchString("x")
}
