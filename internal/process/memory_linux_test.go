package process_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/process"
)

// The bound is there before anything is read, and those that it starts have it,
// too: what would take more fails.
func TestMemoryIsBounded(t *testing.T) {
	for name, tt := range map[string]struct {
		memory uint64
		want   string
	}{
		"bounded": {64 << 20, "65536\nrefused\n"}, "not": {0, "taken\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			_, err := new(process.Runner).Run(t.Context(), process.Command{
				Argv: []string{"/bin/sh", "-c", `read go; ulimit -d; dd if=/dev/zero of=/dev/null bs=200M count=1 2>/dev/null && echo taken || echo refused`},
				Env:  []string{"PATH=/usr/bin:/bin"}, Stdin: strings.NewReader("go\n"), Stdout: &out, Memory: tt.memory,
			})
			if err != nil || !strings.HasSuffix(out.String(), tt.want) {
				t.Errorf("%q, %v, want %q", out.String(), err, tt.want)
			}
		})
	}
}
