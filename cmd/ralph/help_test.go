package main_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// example returns a line under Example or Examples that begins with the command. The
// Action's is a step of a workflow, not a command.
func example(command []string) *regexp.Regexp {
	if len(command) == 1 && command[0] == "action" {
		return regexp.MustCompile(`\n      - uses: ralph-loop/ralph@`)
	}
	typed := strings.Join(append([]string{"ralph"}, command...), " ")
	return regexp.MustCompile(`\nExample(?:: |s:\n(?:\n    .*)*\n    )(?:source <\()?` + typed + `(?: |\n)`)
}

// help returns the help of a command, which has an example and at most 80 columns.
func help(t *testing.T, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "ralph", append(command, "--help", "--all")...)
	cmd.Env = append(os.Environ(), quickExit)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q --help: %v", command, err)
	}
	text := string(out)
	if !example(command).MatchString(text) {
		t.Errorf("%q --help gives no example of it:\n%s", command, text)
	}
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%q --help has a line of %d columns: %s", command, n, line)
		}
	}
	return text
}
