package process_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/lib/process"
)

// split returns what Lines makes of these chunks; a star marks a cut line.
func split(limit int, chunks ...[]byte) (got []string) {
	l := process.Lines{Max: limit, Each: func(line []byte, cut bool) {
		s := string(line)
		if cut {
			s += "*"
		}
		got = append(got, s)
	}}
	for _, c := range chunks {
		_, _ = l.Write(c)
	}
	_ = l.Close()
	return got
}

// A NUL ends the names that git prints with -z, which may have line breaks. Closing is not the end: the cut text
// belonged to the line before.
func TestLinesGoOnAfterClose(t *testing.T) {
	var got []string
	l := process.Lines{NUL: true, Max: 3, Each: func(line []byte, cut bool) { got = append(got, fmt.Sprint(string(line), cut)) }}
	for _, text := range []string{"long", "a\nb\x00", "c"} {
		_, _ = l.Write([]byte(text))
		_ = l.Close()
	}
	if diff := cmp.Diff([]string{"lontrue", "a\nbfalse", "cfalse"}, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// A line without end, and those after it, take the same memory.
func TestLinesKeepLittle(t *testing.T) {
	l, chunk := process.Lines{Max: 1 << 20}, bytes.Repeat([]byte("x"), 64<<10)
	n := testing.AllocsPerRun(3, func() {
		for range 20 << 20 / len(chunk) {
			_, _ = l.Write(chunk)
		}
		_, _ = l.Write([]byte("\nshort\n"))
	})
	if n > 0 {
		t.Errorf("%v allocations for each line of 20 MiB", n)
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("one\ntwo\n\nthree is long\nend"), uint8(3), uint8(7), uint8(6))
	f.Add([]byte("\n\n"), uint8(0), uint8(1), uint8(1))
	f.Add([]byte("12345\n123456\n\na\r\n"), uint8(5), uint8(2), uint8(5))
	f.Fuzz(func(t *testing.T, in []byte, a, b, limit uint8) {
		i := min(int(a), len(in))
		j := min(i+int(b), len(in))
		whole := split(int(limit), in)
		if diff := cmp.Diff(whole, split(int(limit), in[:i], in[i:j], in[j:])); diff != "" {
			t.Errorf("in pieces (-whole +pieces):\n%s", diff)
		}
		if limit > 0 {
			if diff := cmp.Diff(plainly(in, int(limit)), whole); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		}
	})
}

func plainly(in []byte, limit int) (want []string) {
	for line := range bytes.Lines(in) {
		line = bytes.TrimSuffix(line, []byte{'\n'})
		if len(line) > limit {
			want = append(want, string(line[:limit])+"*")
			continue
		}
		want = append(want, string(line))
	}
	return want
}

func TestHeadAndTail(t *testing.T) {
	const text = "aäö€z𝄞" // 1, 2, 2, 3, 1, 4 bytes
	tests := []struct {
		n          int
		head, tail string
	}{
		{0, "", ""},
		{1, "a", ""},
		{2, "a", ""},
		{3, "aä", ""},
		{4, "aä", "𝄞"},
		{5, "aäö", "z𝄞"},
		{7, "aäö", "z𝄞"},
		{8, "aäö€", "€z𝄞"},
		{10, "aäö€z", "ö€z𝄞"},
		{11, "aäö€z", "ö€z𝄞"},
		{12, "aäö€z", "äö€z𝄞"},
		{13, text, text},
		{99, text, text},
	}
	for _, tt := range tests {
		for size := 1; size <= len(text); size++ {
			h, tail := &process.Head{N: tt.n}, &process.Tail{N: tt.n}
			for i := 0; i < len(text); i += size {
				_, _ = h.Write([]byte(text[i:min(i+size, len(text))]))
				_, _ = tail.Write([]byte(text[i:min(i+size, len(text))]))
			}
			if h.String() != tt.head || tail.String() != tt.tail {
				t.Errorf("%d in %ds: head %q, tail %q, want %q, %q", tt.n, size, h, tail, tt.head, tt.tail)
			}
			lost := int64(max(0, len(text)-tt.n))
			if h.Dropped() != lost || tail.Dropped() != lost {
				t.Errorf("%d in %ds: dropped %d and %d, want %d", tt.n, size, h.Dropped(), tail.Dropped(), lost)
			}
		}
	}
}

// A Tail holds little, however much is written.
func TestTailKeepsLittle(t *testing.T) {
	large, block := &process.Tail{N: 1 << 16}, make([]byte, 1<<16)
	if n := testing.AllocsPerRun(10, func() { // on the average: the runtime may want something, too
		for range 1000 {
			_, _ = large.Write(block)
		}
	}); n > 0 {
		t.Errorf("%v allocations for a thousand pieces", n)
	}
}

func TestHeadAndTailOfNoText(t *testing.T) {
	binary := bytes.Repeat([]byte{0x80}, 100)
	h, tail := &process.Head{N: 10}, &process.Tail{N: 10}
	_, _ = h.Write(binary)
	_, _ = tail.Write(binary)
	if len(h.String()) != 7 || len(tail.String()) != 7 || len(tail.Bytes()) != 10 {
		t.Errorf("head %d, tail %d bytes", len(h.String()), len(tail.String()))
	}
}

func TestStatOfWhatIsNoLine(t *testing.T) {
	const good = "7 (sh) X 1 70 7 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1"
	want := process.Stat{PID: 7, Parent: 1, Group: 70, Session: 7, Dead: true}
	if got, ok := process.ParseStat([]byte(good)); !ok || got != want {
		t.Errorf("ParseStat(%q) = %+v, %t, want %+v", good, got, ok, want)
	}
	for old, spoilt := range map[string]string{
		"7 (sh)": "0 (sh)", "7 (": "x (", "(sh)": "sh)", "sh)": "sh", "(sh) X 1 70": ") ( X 1 70", " X ": " XX ", " X 1 ": " X one ",
		" 70 ": " -70 ", " 70 7 ": " 70 7.5 ", " 20 0 1": " 20 0 many", " 20 0": " 20",
	} {
		line := strings.Replace(good, old, spoilt, 1)
		if got, ok := process.ParseStat([]byte(line)); ok {
			t.Errorf("ParseStat(%q) = %+v, want none", line, got)
		}
	}
}

func FuzzStat(f *testing.F) {
	const rest = " 1 70 7 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 3 0 12345 0 0"
	f.Add("sh", byte('S'))
	f.Add("a) Z 1 1 (b", byte('R'))
	f.Add(") (\n", byte('Z'))
	f.Fuzz(func(t *testing.T, name string, state byte) {
		if bytes.ContainsAny([]byte{state}, " \t\n\v\f\r)") || state >= 0x80 || state == 0x1c || state == 0x1f {
			state = 'S'
		}
		line := fmt.Sprintf("4711 (%s) %c%s", name, state, rest)
		got, ok := process.ParseStat([]byte(line))
		want := process.Stat{PID: 4711, Parent: 1, Group: 70, Session: 7}
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("ParseStat(%q) = %v (-want +got):\n%s", line, ok, diff)
		}
		_, _ = process.ParseStat([]byte(name)) // must not fall over
	})
}
