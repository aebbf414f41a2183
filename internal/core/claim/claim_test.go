package claim_test

import (
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
		{"each once, in order", []string{"<promise>B</promise><promise>A</promise>", "<promise>B</promise>"}, []string{"B", "A"}},
		{"exactly as it stands", []string{"<promise> done </promise>"}, []string{" done "}},
		{"the tag's case counts", []string{"<Promise>DONE</Promise>"}, nil},
		{"the inner one of two", []string{"<promise><promise>DONE</promise>"}, []string{"DONE"}},
		{"not over lines", []string{"<promise>\nDONE\n</promise>"}, nil},
		{"not over messages", []string{"<promise>DO", "NE</promise>"}, nil},
		{"not an empty one", []string{"<promise></promise>"}, nil},
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
		{"alone on a line", []string{"ok\r\n  DONE\t\r\nbye"}, true},
		{"in a word", []string{"UNDONE", "DONE2", "DONE7", "7DONE"}, false},
		{"in a sentence", []string{"not DONE yet", "DONE."}, false},
		{"in another case", []string{"done"}, false},
		{"with emphasis", []string{"**DONE**"}, false},
		{"part of another tag", []string{"ALL DONE"}, false},
		{"promised with blanks", []string{"<promise> DONE </promise>"}, false},
	} {
		if got := isClaimed("DONE", c.in...); got != c.want {
			t.Errorf("%s: claimed by %.40q = %v, want %v", c.why, c.in, got, c.want)
		}
	}
}

func TestTagTold(t *testing.T) {
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

// A claim is a part of one line, within the limits.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"<promise>DONE</promise>", "<promise><promise>DONE</promise></promise>", "a\r\n DONE \nb", "<RESPONSE>x</response>",
		"<response>a<response>\nb</response></response>", "<question>a\nb</question><question>c</question>",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := read(claim.Claims{Wanted: []string{"DONE"}, Bare: true}, text)
		for _, words := range append(got.Promises, got.Response, got.Question) {
			if !strings.Contains(text, words) || strings.Contains(words, "\n") || len(words) > 4096 {
				t.Errorf("%q is claimed by %q", words, text)
			}
		}
	})
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
		{"not a long one", []string{"<question>" + strings.Repeat("x", 4097) + "</question>"}, ""},
	} {
		if got := scan(c.in...).Question; got != c.want {
			t.Errorf("%s: Question of %q = %q, want %q", c.why, c.in, got, c.want)
		}
	}
}
