package doctor_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/entry/doctor"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// On a machine on which nothing can be started inside there is no sandbox, and a level that was asked for does not hold.
// The text says so, part by part, and how there would be one.
func TestNothingConfines(t *testing.T) {
	next := func(context.Context, process.Command) (process.Result, error) {
		return process.Result{}, errors.New("refused by the machine")
	}
	s := doctor.LookAtSandbox(t.Context(), sandbox.Config{Level: sandbox.Auto}, next)
	if s.Level != "none" || s.Gap == "" || s.Remedy == "" {
		t.Errorf("found %+v", s)
	}
	text := s.Text()
	for _, want := range []string{"sandbox level none: this machine offers no sandbox that contains the network", "  more: ", "  no   "} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
	s = doctor.LookAtSandbox(t.Context(), sandbox.Config{Level: sandbox.Namespace}, next)
	if s.Level != "namespace" || !strings.Contains(s.Gap, "refused by the machine") {
		t.Errorf("found %+v", s)
	}
}
