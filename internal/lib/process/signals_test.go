package process_test

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/lib/process"
)

func TestSignals(t *testing.T) {
	const (
		ctrlC = syscall.SIGINT
		term  = syscall.SIGTERM
		told  = process.ForwardedSignal
	)
	tests := []struct {
		name    string
		noOuter bool
		gone    int // the outer is gone from this signal on, counted from 1
		sent    []os.Signal
		want    string // f first, h hard, - neither
	}{
		{name: "ctrl-c reaches both", sent: []os.Signal{ctrlC, told}, want: "f -"},
		{name: "and may be told first", sent: []os.Signal{told, ctrlC}, want: "f -"},
		{name: "twice", sent: []os.Signal{ctrlC, told, told, ctrlC}, want: "f - h -"},
		{name: "fast, before the outer tells", sent: []os.Signal{ctrlC, ctrlC, told, told}, want: "f h - -"},
		{name: "kill of the outer", sent: []os.Signal{told, told}, want: "f h"},
		{name: "kill of the inner", sent: []os.Signal{term, term}, want: "f h"},
		{name: "ctrl-c, then kill of the outer", sent: []os.Signal{ctrlC, told, told}, want: "f - h"},
		{name: "a third", sent: []os.Signal{term, term, term}, want: "f h h"},
		{name: "the outer died", gone: 1, sent: []os.Signal{term}, want: "fh"},
		{name: "the outer died while draining", gone: 3, sent: []os.Signal{ctrlC, told, term}, want: "f - h"},
		{name: "the outer died, by its own signal", sent: []os.Signal{process.OrphanedSignal}, want: "fh"},
		{name: "its own signal while draining", sent: []os.Signal{ctrlC, told, process.OrphanedSignal}, want: "f - h"},
		{name: "no outer", noOuter: true, gone: 1, sent: []os.Signal{term, told, ctrlC}, want: "f - h"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			parent := 42
			s := process.Signals{Outer: 42, Parent: func() int { return parent }}
			if tt.noOuter {
				s = process.Signals{}
			}
			var got []string
			for i, sig := range tt.sent {
				if i+1 == tt.gone {
					parent = 1
				}
				got = append(got, flags(s.Count(sig)))
			}
			if g := strings.Join(got, " "); g != tt.want {
				t.Errorf("Seen = %q, want %q", g, tt.want)
			}
		})
	}
}

func flags(first, hard bool) string {
	switch {
	case first && hard:
		return "fh"
	case first:
		return "f"
	case hard:
		return "h"
	}
	return "-"
}

func TestInner(t *testing.T) {
	for value, want := range map[string]bool{
		"":                             false,
		"x":                            false,
		"-1":                           false,
		strconv.Itoa(os.Getppid()):     true,
		strconv.Itoa(os.Getppid() + 1): false,
	} {
		env := func(name string) string { return map[string]string{"RALPH_OUTER": value}[name] }
		if got := process.IsInner(env); got != want {
			t.Errorf("Inner with %q = %v, want %v", value, got, want)
		}
		if got := process.NewSignals(env).Outer != 0; got != want {
			t.Errorf("CountSignals with %q has an outer: %v, want %v", value, got, want)
		}
	}
}

// The signal between outer and inner is never the reason of an end: the
// reported one is.
func TestExitCode(t *testing.T) {
	for _, tt := range []struct {
		status    syscall.WaitStatus
		forwarded syscall.Signal
		want      int
	}{
		{0, 0, 0},
		{7 << 8, syscall.SIGINT, 7},
		{syscall.WaitStatus(syscall.SIGKILL), syscall.SIGINT, 137},
		{syscall.WaitStatus(process.ForwardedSignal), syscall.SIGINT, 130},
		{syscall.WaitStatus(process.ForwardedSignal), 0, 128 + int(process.ForwardedSignal)},
	} {
		if got := process.ExitCode(tt.status, tt.forwarded); got != tt.want {
			t.Errorf("status %#x after %v: exit %d, want %d", int(tt.status), tt.forwarded, got, tt.want)
		}
	}
}
