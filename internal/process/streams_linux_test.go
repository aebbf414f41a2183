package process_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/process"
)

func TestOutputIsBounded(t *testing.T) {
	t.Run("many lines", func(t *testing.T) {
		var lines int
		head, tail := &process.Head{N: 10}, &process.Tail{N: 10}
		c := playing("flood", "64", "lines")
		c.Stdout = io.MultiWriter(head, tail, &process.Lines{Each: func([]byte, bool) { lines++ }})
		_, err := new(process.Runner).Run(t.Context(), c)
		if lines != 64*1024 || head.String() != "xxxxxxxxxx" || tail.String() != "xxxxxxxxx\n" || err != nil {
			t.Errorf("%d lines, head %q, tail %q, %v", lines, head, tail, err)
		}
	})
	t.Run("one line of 20 MiB", func(t *testing.T) {
		var got []string
		c := playing("flood", "20", "single")
		l := &process.Lines{Max: 1 << 20, Each: func(l []byte, cut bool) { got = append(got, fmt.Sprint(len(l), cut)) }}
		c.Stdout = l
		_, err := new(process.Runner).Run(t.Context(), c)
		_ = l.Close()
		if diff := cmp.Diff([]string{"1048576 true"}, got); diff != "" || err != nil {
			t.Errorf("Run: %v, lines (-want +got):\n%s", err, diff)
		}
	})
}

// full is a disk that takes some bytes and then no more.
type full struct{ free int }

var errFull = errors.New("disk full")

func (f *full) Write(p []byte) (int, error) {
	if f.free -= len(p); f.free < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWriterThatFailsEndsTheProgram(t *testing.T) {
	c := playing("flood", "4", "lines", "stay")
	c.Stdout = &full{free: 1 << 20}
	got, err := new(process.Runner).Run(t.Context(), c)
	if !errors.Is(err, errFull) || got.Signal != "SIGTERM" {
		t.Errorf("Run = %+v, %v, want %v and a polite end", got, err, errFull)
	}
}

func TestReaderThatFailsIsReported(t *testing.T) {
	c := playing("cat")
	c.Stdin = io.MultiReader(strings.NewReader("some"), &broken{})
	out := new(bytes.Buffer)
	c.Stdout = out
	_, err := new(process.Runner).Run(t.Context(), c)
	if !errors.Is(err, errFull) || out.String() != "some" {
		t.Errorf("Run = %v with %q, want %v", err, out, errFull)
	}
}

type broken struct{}

func (*broken) Read([]byte) (int, error) { return 0, errFull }

// A pipe that somebody out of reach holds, here we ourselves, ends the output
// and nothing else.
func TestHeldOutputIsCut(t *testing.T) {
	input, end := io.Pipe()
	c := playing("pid")
	c.Stdin = input
	g := run(t.Context(), new(process.Runner), c)
	s := g.left(t)
	hold, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/1", s.pid), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = hold.Close() }()
	_ = end.Close()
	got, err := g.wait()
	if diff := cmp.Diff(process.Result{Leaked: true}, got); diff != "" || err != nil {
		t.Errorf("Run: %v, result (-want +got):\n%s", err, diff)
	}
}

func TestInputThatNeverEndsIsLetGo(t *testing.T) {
	input, end := io.Pipe()
	defer func() { _ = end.Close() }()
	c := playing("exit", "0")
	c.Stdin = input
	if got, err := new(process.Runner).Run(t.Context(), c); got.Exit != 0 || err != nil {
		t.Errorf("Run = %+v, %v, want success", got, err)
	}
}
