package sandbox_test

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// A sandbox whose check hangs is tried once more, and then not believed.
func TestACheckThatHangs(t *testing.T) {
	for name, late := range map[string]int{"once": 1, "always": 99} {
		t.Run(name, func(t *testing.T) {
			tries, honest := 0, new(process.Runner)
			next := func(ctx context.Context, c process.Command) (process.Result, error) {
				if tries++; tries <= late {
					return process.Result{TimedOut: c.Timeout > 0}, nil
				}
				return honest.Run(ctx, c)
			}
			sb := sandbox.Config{Level: sandbox.Notify, UID: os.Geteuid(), GID: os.Getegid()}
			_, err := sb.Check(t.Context(), next)
			if late == 1 && err != nil || late > 1 && (err == nil || !strings.Contains(err.Error(), "it did not end within")) || tries != 2 {
				t.Errorf("%d tries, %v", tries, err)
			}
		})
	}
}

// A check that ends with an exit code is reported with it and with what it said.
func TestACheckThatFails(t *testing.T) {
	fails := func(_ context.Context, c process.Command) (process.Result, error) {
		_, err := io.WriteString(c.Stderr, "no memory")
		return process.Result{Exit: 3}, err
	}
	sb := sandbox.Config{Level: sandbox.Notify, UID: os.Geteuid(), GID: os.Getegid()}
	_, err := sb.Check(t.Context(), fails)
	if err == nil || err.Error() != "test the sandbox from inside: exit 3: no memory" {
		t.Errorf("%v", err)
	}
}

// checked returns what the check of a sandbox says as a user; empty: it holds.
func checked(t *testing.T, who user, o order) (said string) {
	t.Helper()
	o.Sandbox.UID, o.Sandbox.GID = who.uid, who.uid
	who.play(t, &said, "verify", asJSON(t, o))
	return said
}

// Each part of the sandbox that a check stands for is taken away, and the check tells.
func TestCheck(t *testing.T) {
	tests := []struct {
		who     user
		level   sandbox.Level
		without string
		want    string
	}{
		{asOther, sandbox.Namespace, "", ""},
		{asOther, sandbox.Namespace, "network namespace", "a connection to a server of this machine"},
		{asOther, sandbox.Namespace, "mounts, landlock files", "a file outside of its folders"},
		{asOther, sandbox.Namespace, "another user, landlock files, mounts, no capabilities", "a signal to ralph"},
		{asOther, sandbox.Notify, "", ""},
		{asOther, sandbox.Notify, "supervisor, landlock ports", "a connection to a server of this machine"},
		{asOther, sandbox.Notify, "landlock files", "a file outside of its folders"},
		{asOrdinary, sandbox.Notify, "", ""},
		{asOrdinary, sandbox.Notify, "landlock scopes", "a signal to ralph"},
	}
	for _, tt := range tests {
		if !tt.who.possible(tt.level) {
			continue
		}
		t.Run(tt.who.name+" at "+string(tt.level)+" without "+tt.without, func(t *testing.T) {
			said := checked(t, tt.who, order{Sandbox: sandbox.Config{Level: tt.level}, Without: strings.Split(tt.without, ", ")})
			if tt.want == "" && said != "" || !strings.Contains(said, tt.want) {
				t.Errorf("the check says %q, want %q", said, tt.want)
			}
		})
	}
}
