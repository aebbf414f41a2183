package claim_test

import (
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/claim"
)

func scan(messages ...string) *claim.Scanner {
	s := claim.New("DONE", "ALL DONE")
	for _, m := range messages {
		s.Write(m)
		s.End()
	}
	return s
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
		if diff := cmp.Diff(c.want, scan(c.in...).Promises()); diff != "" {
			t.Errorf("%s: Promises(%q):\n%s", c.why, c.in, diff)
		}
	}
}

func TestResponse(t *testing.T) {
	for _, c := range []struct {
		why   string
		in    []string
		want  string
		found bool
	}{
		{"any case of tag, the words as they are", []string{"<Response>Done</RESPONSE>"}, "Done", true},
		{"the first", []string{"a <response>x</response>", "<response>DONE</response>"}, "x", true},
		{"an empty one is one", []string{"<response></response><response>DONE</response>"}, "", true},
		{"the outer of two", []string{"<response>a<response>b</response>"}, "a<response>b", true},
		{"on one line", []string{"<response>DO\nNE</response>"}, "", false},
		{"none", []string{"DONE"}, "", false},
		{"at most 4 KiB", []string{"<response>" + strings.Repeat("x", 4096) + "</response>"}, strings.Repeat("x", 4096), true},
		{"not more", []string{"<response>" + strings.Repeat("x", 4097) + "</response>"}, "", false},
		{"at the end of a long line", []string{strings.Repeat("x", 100000) + "<response>DONE</response>"}, "DONE", true},
	} {
		got, found := scan(c.in...).Response()
		if got != c.want || found != c.found {
			t.Errorf("%s: Response = %q, %v; want %q, %v", c.why, got, found, c.want, c.found)
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
		if got := scan(c.in...).Tag("DONE"); got != c.want {
			t.Errorf("%s: Tag after %.40q = %v, want %v", c.why, c.in, got, c.want)
		}
	}
}

func TestTagTold(t *testing.T) {
	if scan("COMPLETE").Tag("COMPLETE") {
		t.Error("an unexpected tag was found")
	}
	if !scan("ALL DONE").Tag("ALL DONE") {
		t.Error("a tag of two words was not found")
	}
	if scan("<promise>COMPLETE</promise>").Tag("COMPLETE") {
		t.Error("an unexpected promise is a tag")
	}
	blank := claim.New("")
	blank.Write("\n\n")
	blank.End()
	if blank.Tag("") {
		t.Error("an empty tag was found")
	}
}

// A tag is what stands in the text, however it was cut.
func TestTagIsCutAnywhere(t *testing.T) {
	for _, c := range []struct {
		parts []string
		tag   string
		want  bool
	}{
		{[]string{"ALL", " ", "DONE"}, "ALL DONE", true},
		{[]string{" ", " DO", "NE ", " "}, "DONE", true},
		{[]string{"DO", " NE"}, "DONE", false},
	} {
		s := claim.New("DONE", "ALL DONE")
		for _, part := range c.parts {
			s.Write(part)
		}
		s.End()
		if got := s.Tag(c.tag); got != c.want {
			t.Errorf("Tag(%q) after %q = %v, want %v", c.tag, c.parts, got, c.want)
		}
	}
}

// It keeps a few kilobytes, however long the line under way.
func TestALongLineTakesNoMemory(t *testing.T) {
	held := func() uint64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	s := claim.New("DONE")
	before, part := held(), strings.Repeat("x", 1<<20)
	for range 16 {
		s.Write(part)
	}
	grown := int64(held()) - int64(before)
	s.Write("<promise>DONE</promise>")
	s.End()
	if grown > 4<<20 || !s.Tag("DONE") {
		t.Errorf("%d bytes are held of a line of 16 MiB, and the tag behind it was found: %v", grown, s.Tag("DONE"))
	}
}

func TestPromised(t *testing.T) {
	s := scan("<promise>A</promise>")
	if !slices.Contains(s.Promises(), "A") || slices.Contains(s.Promises(), "DONE") || slices.Contains(s.Promises(), "") {
		t.Errorf("Promises are %q", s.Promises())
	}
	s.Promises()[0] = "DONE"
	if slices.Contains(s.Promises(), "DONE") {
		t.Error("who reads the promises can change them")
	}
}

// Noise cannot crowd out what is waited for.
func TestPromisesLimit(t *testing.T) {
	long := strings.Repeat("long ", 2000) + "tag"
	s := claim.New("DONE", long)
	s.Write("<promise>DONE</promise>")
	for i := range 100 {
		s.Write("<promise>" + strings.Repeat("x", i) + "</promise>")
	}
	s.Write("<promise>DONE</promise>\n<promise>" + long + "</promise>\n" + long)
	s.End()
	if got := len(s.Promises()); got != claim.MaxPromises+2 {
		t.Errorf("%d promises kept, want %d", got, claim.MaxPromises+2)
	}
	if !slices.Contains(s.Promises(), "DONE") || !s.Tag("DONE") || !slices.Contains(s.Promises(), long) || !s.Tag(long) {
		t.Error("the promises waited for were not found")
	}
}

var (
	promisePattern  = regexp.MustCompile(`<promise>([^\n]*?)</promise>`)
	responsePattern = regexp.MustCompile(`(?i)<response>(.*?)</response>`)
)

// whole returns what is claimed in a message, with all of it at hand.
func whole(text string) (promises []string, response string, found, done bool) {
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
	for line := range strings.SplitSeq(text, "\n") {
		done = done || strings.Trim(line, " \t\r\v\f") == "DONE"
		if m := responsePattern.FindStringSubmatch(line); m != nil && !found {
			response, found = m[1], true
		}
	}
	return promises, response, found, done || slices.Contains(promises, "DONE")
}

// FuzzScanner cuts a text anywhere and holds the findings against those in the
// whole of it.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{
		"<promise>DONE</promise>", "<promise><promise>DONE</promise></promise>", "a\r\n DONE \nb", "<RESPONSE>x</response>",
		"<response>a<response>\nb</response></response>", "DONE DONE\nDONE", "<promise>a\nb</promise>", "\u00a0DONE",
	} {
		f.Add(s, uint8(1))
		f.Add(s, uint8(7))
	}
	f.Fuzz(func(t *testing.T, text string, step uint8) {
		// The oracle knows no limits.
		if len(text) > 2000 || strings.Count(text, "</promise>") > claim.MaxPromises || strings.ToValidUTF8(text, "") != text {
			return
		}
		for _, filler := range []string{"", strings.Repeat("x", 9000)} {
			in := filler + text + filler
			s := claim.New("DONE")
			for rest := in; rest != ""; {
				n := min(len(rest), 1+int(step)*(1+len(filler)/100))
				s.Write(rest[:n])
				rest = rest[n:]
			}
			s.End()
			compare(t, in, s)
		}
	})
}

func compare(t *testing.T, in string, s *claim.Scanner) {
	t.Helper()
	promises, response, found, done := whole(in)
	promises = slices.DeleteFunc(promises, func(p string) bool { return len(p) > claim.MaxPromise })
	if got := s.Promises(); !slices.Equal(got, promises) {
		t.Errorf("Promises(%q) = %q, want %q", in, got, promises)
	}
	if got, ok := s.Response(); got != response || ok != found {
		t.Errorf("Response(%q) = %q, %v; want %q, %v", in, got, ok, response, found)
	}
	if got := s.Tag("DONE"); got != done {
		t.Errorf("Tag(%q) = %v, want %v", in, got, done)
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
		if got := scan(c.in...).Question(); got != c.want {
			t.Errorf("%s: Question(%q) = %q, want %q", c.why, c.in, got, c.want)
		}
	}
}
