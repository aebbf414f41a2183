package claim_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/claim"
)

func read(c claim.Claims, messages ...string) claim.Claims {
	for _, m := range messages {
		c.Read(m)
	}
	return c
}

func scan(messages ...string) claim.Claims {
	return read(claim.Claims{Wanted: []string{"DONE", "ALL DONE"}}, messages...)
}

// isClaimed reports whether a tag is claimed where it may stand alone.
func isClaimed(tag string, messages ...string) bool {
	return slices.Contains(read(claim.Claims{Wanted: []string{"DONE", "ALL DONE"}, Bare: true}, messages...).Promises, tag)
}

func TestPromises(t *testing.T) {
	for _, c := range []struct {
		why  string
		in   []string
		want []string
	}{
		{"anywhere in a line", []string{"so: <promise>DONE</promise>, I say"}, []string{"DONE"}},
		{"in a fence", []string{"```\n<promise>DONE</promise>\n```"}, []string{"DONE"}},
		{"each once, in order", []string{"<promise>B</promise><promise>A</promise>", "<promise>B</promise>"}, []string{"B", "A"}},
		{"exactly as it stands", []string{"<promise> done </promise>"}, []string{" done "}},
		{"the tag's case counts", []string{"<Promise>DONE</Promise>"}, nil},
		{"the inner one of two", []string{"<promise><promise>DONE</promise>"}, []string{"DONE"}},
		{"not over lines", []string{"<promise>\nDONE\n</promise>"}, nil},
		{"not over messages", []string{"<promise>DO", "NE</promise>"}, nil},
		{"not an empty one", []string{"<promise></promise>"}, nil},
		{"one as long as may be", []string{"<promise>" + strings.Repeat("x", 200) + "</promise>"}, []string{strings.Repeat("x", 200)}},
		{"not a long one", []string{"<promise>" + strings.Repeat("x", 201) + "</promise>"}, nil},
	} {
		if diff := cmp.Diff(c.want, scan(c.in...).Promises); diff != "" {
			t.Errorf("%s: Promises of %q:\n%s", c.why, c.in, diff)
		}
	}
}

func TestResponse(t *testing.T) {
	for _, c := range []struct {
		why  string
		in   []string
		want string
	}{
		{"any case of tag, the words as they are", []string{"<Response>Done</RESPONSE>"}, "Done"},
		{"the first", []string{"a <response>x</response>", "<response>DONE</response>"}, "x"},
		{"an empty one is one", []string{"<response></response><response>DONE</response>"}, ""},
		{"the outer of two", []string{"<response>a<response>b</response>"}, "a<response>b"},
		{"on one line", []string{"<response>DO\nNE</response>"}, ""},
		{"none", []string{"DONE"}, ""},
		{"at most 4 KiB", []string{"<response>" + strings.Repeat("x", 4096) + "</response>"}, strings.Repeat("x", 4096)},
		{"not more", []string{"<response>" + strings.Repeat("x", 4097) + "</response>"}, ""},
		{"at the end of a long line", []string{strings.Repeat("x", 100000) + "<response>DONE</response>"}, "DONE"},
	} {
		if got := scan(c.in...).Response; got != c.want {
			t.Errorf("%s: Response = %q, want %q", c.why, got, c.want)
		}
	}
}

func TestTag(t *testing.T) {
	for _, c := range []struct {
		why  string
		in   []string
		want bool
	}{
		{"promised", []string{"now <promise>DONE</promise>."}, true},
		{"alone", []string{"DONE"}, true},
		{"alone on a line", []string{"ok\r\n  DONE\t\r\nbye"}, true},
		{"alone behind much white space", []string{strings.Repeat(" ", 2000) + "DONE" + strings.Repeat(" ", 2000)}, true},
		{"in a word", []string{"UNDONE", "DONE2", "DONE7", "7DONE"}, false},
		{"alone but for a word far behind", []string{"DONE" + strings.Repeat(" ", 300) + "x"}, false},
		{"in a sentence", []string{"not DONE yet", "DONE."}, false},
		{"in another case", []string{"done"}, false},
		{"with emphasis", []string{"**DONE**"}, false},
		{"over lines", []string{"DO\nNE"}, false},
		{"over messages", []string{"DO", "NE"}, false},
		{"part of another tag", []string{"ALL DONE"}, false},
		{"promised with blanks", []string{"<promise> DONE </promise>"}, false},
	} {
		if got := isClaimed("DONE", c.in...); got != c.want {
			t.Errorf("%s: claimed by %.40q = %v, want %v", c.why, c.in, got, c.want)
		}
	}
}

func TestTagTold(t *testing.T) {
	if isClaimed("COMPLETE", "COMPLETE") {
		t.Error("an unexpected tag was found")
	}
	if !isClaimed("ALL DONE", "ALL DONE") {
		t.Error("a tag of two words was not found")
	}
	if got := scan("DONE").Promises; len(got) != 0 {
		t.Errorf("where a tag may not stand alone, the promises are %q", got)
	}
	if got := read(claim.Claims{Wanted: []string{""}, Bare: true}, "\n\n").Promises; len(got) != 0 {
		t.Errorf("an empty tag was found: %q", got)
	}
}

// Noise cannot crowd out what is waited for.
func TestPromisesLimit(t *testing.T) {
	long := strings.Repeat("long ", 2000) + "tag"
	text := "<promise>DONE</promise>"
	for i := range 100 {
		text += "<promise>" + strings.Repeat("x", i) + "</promise>"
	}
	text += "<promise>DONE</promise>\n<promise>" + long + "</promise>\n" + long
	got := read(claim.Claims{Wanted: []string{"DONE", long}}, text).Promises
	if len(got) != 16+2 {
		t.Errorf("%d promises kept, want %d", len(got), 16+2)
	}
	if !slices.Contains(got, "DONE") || !slices.Contains(got, long) {
		t.Error("the promises waited for were not found")
	}
}

var (
	promisePattern  = regexp.MustCompile(`<promise>([^\n]*?)</promise>`)
	responsePattern = regexp.MustCompile(`(?i)<response>(.*?)</response>`)
)

// whole returns what is claimed in a message, with all of it at hand.
func whole(text string) (promises []string, response string, done bool) {
	for at := 0; at < len(text); at++ {
		m := promisePattern.FindStringSubmatchIndex(text[at:])
		if m == nil {
			break
		}
		at += m[0]
		words := text[at+9 : at+m[3]-m[0]]
		if words != "" && !strings.Contains(words, "<promise>") && !slices.Contains(promises, words) {
			promises = append(promises, words)
		}
	}
	found := false
	for line := range strings.SplitSeq(text, "\n") {
		done = done || strings.Trim(line, " \t\r\v\f") == "DONE"
		if m := responsePattern.FindStringSubmatch(line); m != nil && !found {
			response, found = m[1], true
		}
	}
	return promises, response, done || slices.Contains(promises, "DONE")
}

// FuzzRead holds the claims against those that patterns find.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"<promise>DONE</promise>", "<promise><promise>DONE</promise></promise>", "a\r\n DONE \nb", "<RESPONSE>x</response>",
		"<response>a<response>\nb</response></response>", "DONE DONE\nDONE", "<promise>a\nb</promise>", "\u00a0DONE",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		// The oracle knows no limits.
		if len(text) > 2000 || strings.Count(text, "</promise>") > 16 || strings.ToValidUTF8(text, "") != text {
			return
		}
		for _, filler := range []string{"", strings.Repeat("x", 9000)} {
			compare(t, filler+text+filler)
		}
	})
}

func compare(t *testing.T, in string) {
	t.Helper()
	promises, response, done := whole(in)
	promises = slices.DeleteFunc(promises, func(p string) bool { return len(p) > 200 })
	got := read(claim.Claims{Wanted: []string{"DONE"}}, in)
	if !slices.Equal(got.Promises, promises) {
		t.Errorf("Promises of %q = %q, want %q", in, got.Promises, promises)
	}
	if got.Response != response {
		t.Errorf("Response of %q = %q; want %q", in, got.Response, response)
	}
	if claimed := isClaimed("DONE", in); claimed != done {
		t.Errorf("DONE claimed by %q = %v, want %v", in, claimed, done)
	}
}

func TestQuestion(t *testing.T) {
	for _, c := range []struct {
		why  string
		in   []string
		want string
	}{
		{"anywhere in a line", []string{"I wonder: <question> Which port? </question>"}, "Which port?"},
		{"the first that asks anything", []string{"<question></question>", "<QUESTION>One?</QUESTION>", "<question>Two?</question>"}, "One?"},
		{"on one line", []string{"<question>Which\nport?</question>"}, ""},
		{"beside an answer", []string{"<response>no</response><question>Why?</question>"}, "Why?"},
		{"not a long one", []string{"<question>" + strings.Repeat("x", 4097) + "</question>"}, ""},
		{"none", []string{"Which port?"}, ""},
	} {
		if got := scan(c.in...).Question; got != c.want {
			t.Errorf("%s: Question of %q = %q, want %q", c.why, c.in, got, c.want)
		}
	}
}
