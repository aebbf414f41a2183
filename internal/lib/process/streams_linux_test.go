package process_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/lib/process"
)

func TestOutputIsBounded(t *testing.T) {
	var lines int
	head, tail := &process.Head{N: 10}, &process.Tail{N: 10}
	c := playing("flood", "64")
	c.Stdout = io.MultiWriter(head, tail, &process.Lines{Each: func([]byte, bool) { lines++ }})
	_, err := new(process.Runner).Run(t.Context(), c)
	if lines != 64*1024 || head.String() != "xxxxxxxxxx" || tail.String() != "xxxxxxxxx\n" || err != nil {
		t.Errorf("%d lines, head %q, tail %q, %v", lines, head, tail, err)
	}
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
	c := playing("flood", "4", "stay")
	c.Stdout = &full{free: 1 << 20}
	got, err := new(process.Runner).Run(t.Context(), c)
	if !errors.Is(err, errFull) || got.Signal != "SIGTERM" {
		t.Errorf("Run = %+v, %v, want %v and a polite end", got, err, errFull)
	}
}

// many is a writer that cannot be compared.
type many []*bytes.Buffer

func (m many) Write(p []byte) (int, error) { return m[0].Write(p) }

// One writer for both is one pipe, so that the order stays; two writers are two
// pipes, also if they cannot be compared.
func TestOneWriterIsOnePipe(t *testing.T) {
	buf, list := new(bytes.Buffer), many{new(bytes.Buffer)}
	for name, tt := range map[string]struct {
		out, errs io.Writer
		in        func() string
		want      bool
	}{
		"one":                      {buf, buf, buf.String, true},
		"two":                      {buf, new(bytes.Buffer), buf.String, false},
		"one that has no equality": {list, list, list[0].String, false},
	} {
		t.Run(name, func(t *testing.T) {
			buf.Reset()
			c := process.Command{
				Argv: []string{"/bin/sh", "-c", "readlink /proc/self/fd/1 /proc/$$/fd/2"}, Env: []string{"PATH=/usr/bin:/bin"},
				Stdout: tt.out, Stderr: tt.errs,
			}
			if _, err := new(process.Runner).Run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			pipes := strings.Fields(tt.in())
			if len(pipes) != 2 || (pipes[0] == pipes[1]) != tt.want {
				t.Errorf("its streams are %q, want them one: %t", pipes, tt.want)
			}
		})
	}
}

// What the kernel is to do as it starts the program is the Command's to say, and
// the Command is left as it was.
func TestSysIsHandedOn(t *testing.T) {
	handle := -1
	c := playing("exit", "0")
	c.Sys = &syscall.SysProcAttr{PidFD: &handle}
	if _, err := new(process.Runner).Run(t.Context(), c); err != nil || handle < 0 || c.Sys.Setsid || c.Sys.Pdeathsig != 0 {
		t.Errorf("Run = %v, with a handle %d and %+v", err, handle, c.Sys)
	}
	_ = syscall.Close(handle)
}

// Some programs end without waiting until they were heard out.
func TestOutputIsWide(t *testing.T) {
	limit, err := os.ReadFile("/proc/sys/fs/pipe-max-size")
	if err != nil {
		t.Fatal(err)
	}
	want := min(1<<20, atoi(strings.TrimSpace(string(limit))))
	var out bytes.Buffer
	c := playing("pipe")
	c.Stdout = &out
	if _, err := new(process.Runner).Run(t.Context(), c); err != nil || strings.TrimSpace(out.String()) != fmt.Sprint(want) {
		t.Errorf("its output holds %q, %v, want %d", out.String(), err, want)
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

// An output that is held out of reach, here by a message that is not read, ends with the program.
func TestHeldOutputIsCut(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	defer func() { _, _ = ours.Close(), theirs.Close() }()
	c := playing("lend")
	c.Files, c.Stdout = []*os.File{theirs}, new(bytes.Buffer)
	got, err := new(process.Runner).Run(t.Context(), c)
	if diff := cmp.Diff(process.Result{}, got); diff != "" || err != nil {
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
