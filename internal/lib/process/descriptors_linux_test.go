package process_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/lib/process"
)

// What was left open to us goes no further, in any way that the kernel is told.
func TestKeepFrom(t *testing.T) {
	for _, way := range []string{"from", "each", "no"} {
		t.Run(way, func(t *testing.T) {
			var out bytes.Buffer
			c := playing("keep", way)
			c.Stdout = &out
			for range 3 { // descriptors 3, 4 and 5
				f, err := os.Open(os.DevNull)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = f.Close() }()
				c.Files = append(c.Files, f)
			}
			if _, err := new(process.Runner).Run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			want := map[bool]string{true: "34", false: "345"}[way != "no"]
			if got := strings.TrimSpace(out.String()); got != want {
				t.Errorf("the next program has %q, want %q", got, want)
			}
		})
	}
}

// Without a descriptor to read them, processes are not gone: Run goes on until it knows.
func TestWhatCannotBeReadIsNotGone(t *testing.T) {
	var out bytes.Buffer
	c := playing("blind")
	c.Stdout, c.Stderr = &out, &out
	res, err := new(process.Runner).Run(t.Context(), c)
	if res.Swept != 0 || err != nil || !strings.HasSuffix(out.String(), "\nswept 1 <nil>\n") {
		t.Errorf("it says %q and leaves %d, %v", out.String(), res.Swept, err)
	}
}

// However a program ends, or does not begin, nothing of ours stays open.
func TestNoDescriptorStays(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it would close what we forgot
	dir := t.TempDir()
	write(t, filepath.Join(dir, "formless"), "no program\n", 0o755)
	endless, end := io.Pipe()
	defer func() { _ = end.Close() }()
	reading := func(c process.Command, from io.Reader) process.Command {
		c.Stdin, c.Stdout, c.Stderr = from, new(bytes.Buffer), new(bytes.Buffer)
		return c
	}
	for name, c := range map[string]process.Command{
		"a program":              reading(playing("cat"), strings.NewReader("text")),
		"without streams":        playing("exit", "0"),
		"an input without end":   reading(playing("exit", "0"), endless),
		"an output that is held": reading(playing("leave", "hold", "end"), nil),
		"one that cannot begin":  reading(process.Command{Argv: []string{dir + "/formless"}}, strings.NewReader("text")),
		"what it leaves":         playing("leave", "daemon", "end"),
	} {
		t.Run(name, func(t *testing.T) {
			before := opened(t)
			for range 2 {
				_, _ = new(process.Runner).Run(t.Context(), c)
			}
			// A forked program shares ours for the instant before its exec.
			eventually(t, "all is closed", func() bool { return len(opened(t)) <= len(before) })
		})
	}
}

// opened are this program's pipes and files; the runtime keeps others, and may
// open them at any time.
func opened(t *testing.T) (all []string) {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range list {
		to, err := os.Readlink("/proc/self/fd/" + fd.Name())
		if err == nil && (strings.HasPrefix(to, "pipe:") || strings.HasPrefix(to, "socket:") || to == os.DevNull || strings.HasPrefix(to, "/proc")) {
			all = append(all, to)
		}
	}
	return all
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
