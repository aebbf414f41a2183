package doctor_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/doctor"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/sandbox"
)

// On a machine on which nothing can be started inside there is no sandbox: it says
// so, part by part, and how there would be one.
func TestNothingConfinesAnybody(t *testing.T) {
	next := func(context.Context, process.Command) (process.Result, error) {
		return process.Result{}, errors.New("refused by the machine")
	}
	s := doctor.LookAtSandbox(t.Context(), sandbox.Config{Level: sandbox.Auto}, next)
	if s.Level != "none" || s.Holds || len(s.Vectors) > 0 || s.Why == "" || s.Remedy == "" {
		t.Errorf("found %+v", s)
	}
	text := s.Text()
	for _, want := range []string{"sandbox level none: this machine offers no sandbox that contains the network", "  more: ", "  no   "} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
}

// A level that was asked for and cannot be put to the test does not hold.
func TestALevelThatIsNotThere(t *testing.T) {
	next := func(context.Context, process.Command) (process.Result, error) {
		return process.Result{}, errors.New("refused by the machine")
	}
	s := doctor.LookAtSandbox(t.Context(), sandbox.Config{Level: sandbox.Namespace}, next)
	if s.Level != "namespace" || s.Holds || !strings.Contains(s.Why, "refused by the machine") {
		t.Errorf("found %+v", s)
	}
}

// An attack that got through is told apart from one that the level does not
// prevent.
func TestWhatGotThrough(t *testing.T) {
	s := doctor.Sandbox{Level: "external", Holds: true, Vectors: []sandbox.AttackResult{
		{Vector: "UDP", Control: "seccomp", Held: true, Promised: true},
		{Vector: "TCP to another host", Saw: "1 came out"},
		{Vector: "io_uring", Saw: "a ring", Promised: true},
	}}
	text := s.Text()
	for _, want := range []string{"  ok   UDP: seccomp\n", "  open TCP to another host: 1 came out\n", "  no   io_uring: a ring\n", "failed, as it should"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
}
