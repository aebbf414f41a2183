package yamlfile_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/lib/yamlfile"
)

// bomb returns a list of eight lists of eight lists …, written with aliases.
func bomb(levels int) string {
	text := "l0: &l0 [x, x, x, x, x, x, x, x]\n"
	for i := 1; i < levels; i++ {
		alias := fmt.Sprintf("*l%d, ", i-1)
		text += fmt.Sprintf("l%d: &l%d [%s]\n", i, i, strings.Repeat(alias, 7)+alias[:len(alias)-2])
	}
	return text + fmt.Sprintf("on: *l%d\n", levels-1)
}

// A file of three hundred bytes costs as little as any other, however many levels of aliases it has, and so does a use
// of its values.
func TestAliasesAreBounded(t *testing.T) {
	for levels := 3; levels <= 7; levels++ {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var to struct{ On any }
		_ = yamlfile.Decode([]byte(bomb(levels)), &to)
		_ = fmt.Sprint(to)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
			t.Errorf("%d levels take %d bytes", levels, took)
		}
	}
}

func TestDecode(t *testing.T) {
	type values struct {
		On   any
		Jobs map[string]any
	}
	deep := func(open, end string, n int) string { return strings.Repeat(open, n) + "x" + strings.Repeat(end, n) }
	for _, test := range []struct {
		name, text string
		want       any
		wrong      string
	}{
		{name: "empty", want: values{}},
		{name: "only a comment", text: "# nothing\n", want: values{}},
		{name: "the first of two", text: "---\non: push\n---\non: pull\n", want: values{On: "push"}},
		{name: "aliases", text: "on: &a {x: [1, 2]}\njobs: {b: *a, c: *a}\n", want: values{
			On: map[string]any{"x": []any{uint64(1), uint64(2)}}, Jobs: map[string]any{"b": map[string]any{"x": []any{uint64(1), uint64(2)}}, "c": map[string]any{"x": []any{uint64(1), uint64(2)}}},
		}},
		{name: "merged", text: "on: &a {x: y}\njobs:\n  <<: *a\n  z: w\n", want: values{On: map[string]any{"x": "y"}, Jobs: map[string]any{"x": "y", "z": "w"}}},
		{name: "many of a long text", text: "on: &a " + strings.Repeat("x", 9000) + "\njobs: {b: [" + strings.Repeat("*a, ", 40) + "]}\n", wrong: "its aliases stand for more than 262144 bytes"},
		{name: "many levels", text: bomb(7), wrong: "its aliases stand for more than 262144 bytes"},
		{name: "many merges", text: strings.NewReplacer("[", "{k: [", "]", "]}").Replace(bomb(7)), wrong: "its aliases stand for more than 262144 bytes"},
		{name: "itself", text: "on: &a [*a, *a]\n", wrong: `the alias "a" stands for nothing before it`},
		{name: "what comes later", text: "on: *a\njobs: {b: &a x}\n", wrong: `the alias "a" stands for nothing before it`},
		{name: "an anchor again", text: "on: &a x\njobs: {b: &a [y]}\n", wrong: `the anchor "a" is there twice`},
		{name: "brackets", text: "on: " + deep("[", "]", 64), want: nil},
		{name: "too many brackets", text: "on: " + deep("[", "]", 65), wrong: "line 1 is nested deeper than 64 levels"},
		{name: "too many that stay open", text: "\non: " + strings.Repeat("{a: [", 10_000), wrong: "line 2 is nested deeper than 64 levels"},
		{name: "too many dashes", text: deep("- ", "", 65), wrong: "line 1 is nested deeper than 64 levels"},
		{name: "a long list", text: "on:\n" + strings.Repeat("- [x]\n", 500), want: nil},
		{name: "too long", text: "# " + strings.Repeat("x", 64<<10-1), wrong: "found 65537 bytes, want at most 65536"},
	} {
		var got values
		err := yamlfile.Decode([]byte(test.text), &got)
		if said := fmt.Sprint(err); err != nil && (test.wrong == "" || !strings.Contains(said, test.wrong)) || err == nil && test.wrong != "" {
			t.Errorf("%s: %v, want %q", test.name, err, test.wrong)
		}
		if test.want != nil && !cmp.Equal(got, test.want) {
			t.Errorf("%s: %s", test.name, cmp.Diff(test.want, got))
		}
	}
}
