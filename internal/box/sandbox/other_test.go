//go:build !linux

package sandbox_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// Where there is no sandbox nothing runs as if there were one.
func TestNoSandboxIsSaid(t *testing.T) {
	ran := false
	next := func(context.Context, process.Command) (process.Result, error) {
		ran = true
		return process.Result{}, nil
	}
	for _, level := range []sandbox.Level{sandbox.Namespace, sandbox.Notify} {
		_, err := sandbox.Config{Level: level}.Run(next)(t.Context(), process.Command{Argv: []string{"true"}})
		if err == nil || ran || !strings.Contains(err.Error(), "open to the agent") {
			t.Errorf("level %s: ran %t, %v; want a plain refusal", level, ran, err)
		}
	}
	got, _, err := sandbox.Config{Level: sandbox.Auto}.Strongest(t.Context(), next)
	if err == nil || got.Level != sandbox.None {
		t.Errorf("Strongest found %s, %v", got.Level, err)
	}
}
