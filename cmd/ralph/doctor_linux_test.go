package main_test

import (
	"strings"
	"testing"
)

// Checks take their time: on a terminal people see which one is at work, and
// what is read by programs has nothing of it.
func TestDoctorTellsWhatItTries(t *testing.T) {
	t.Parallel()
	dir := stop{}.settle(t)
	for name, pipe := range map[string]bool{"a terminal": false, "a pipe": true} {
		shown := watched(t, dir, pipe, []string{"TERM=xterm", "HOME=" + t.TempDir()}, words("doctor --checks --check", "true"))
		if got := strings.Contains(shown, "check true …"); got == pipe || !strings.Contains(shown, "checks on a clean checkout") {
			t.Errorf("%s shows %q", name, shown)
		}
		if strings.Contains(shown, "\x1b") {
			t.Errorf("%s shows escapes: %q", name, shown)
		}
	}
}
