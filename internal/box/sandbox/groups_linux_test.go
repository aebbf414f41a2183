package sandbox_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// A group can open the machine, as docker's does. ralph has one here; sandboxed
// programs do not. Only root can leave its groups.
func TestOurGroupsStayOutside(t *testing.T) {
	who := users()[0]
	if who.uid == 0 {
		return
	}
	const docker = 4242
	grouped := func(ctx context.Context, c process.Command) (process.Result, error) {
		sys := syscall.SysProcAttr{}
		if c.Sys != nil {
			sys = *c.Sys
		}
		sys.Credential = &syscall.Credential{Groups: []uint32{docker}}
		c.Sys = &sys
		return new(process.Runner).Run(ctx, c)
	}
	for _, level := range append(who.levels(), sandbox.External, sandbox.None) {
		want := fmt.Sprintf("Groups: %d", who.uid) // none, and its own as what id says
		if level == sandbox.None {
			want = fmt.Sprintf("Groups: %d 0", docker) // else nothing would be shown
		}
		w := testConfig(t, level, who)
		var out bytes.Buffer
		_, err := w.Run(grouped)(t.Context(), process.Command{
			Argv: []string{"/bin/sh", "-c", "grep Groups: /proc/self/status; id -g"}, Dir: w.Write[0],
			Env: []string{"PATH=/usr/bin:/bin"}, Stdout: &out, Stderr: &out,
		})
		if got := strings.Join(strings.Fields(out.String()), " "); got != want || err != nil {
			t.Errorf("level %s: %q, %v, want %q", level, got, err, want)
		}
	}
}
