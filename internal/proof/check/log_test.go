package check_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/policy"
)

// Of an output that is too long the log has the beginning and the end, and says
// what is not there; the digest is that of the log. What fits is there whole.
func TestLogsAreCapped(t *testing.T) {
	for _, kib := range []int{1, 10<<10 - 1, 10 << 10, 24 << 10} {
		l := newLab(t)
		command := fmt.Sprintf("yes %s | head -n %d; echo the end", strings.Repeat("x", 1<<10-1), kib)
		ended := l.do(t, policy.Check{Name: "loud", Command: command})[0]
		log, size, note := l.log(t, ended.Log), kib<<10+len("the end\n"), ""
		if cut := size - 10<<20; cut > 0 {
			note = fmt.Sprintf("\n[ralph left out %d bytes here]\n", cut)
			size = 10<<20 + len(note)
		}
		if len(log) != size || !strings.Contains(log, note) || !strings.HasPrefix(log, "xxx") || !strings.HasSuffix(log, "x\nthe end\n") {
			t.Errorf("of %d KiB the log has %d bytes, want %d with %q", kib, len(log), size, note)
		}
		if sum := sha256.Sum256([]byte(log)); ended.Digest != hex.EncodeToString(sum[:]) {
			t.Errorf("of %d KiB the digest is not that of the log", kib)
		}
		if !strings.HasSuffix(ended.Excerpt, "the end\n") {
			t.Errorf("of %d KiB the excerpt does not end as the output", kib)
		}
	}
}
