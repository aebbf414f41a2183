package main_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// listed is a command in the list of them, as kong prints it.
var listed = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*)(?: |$)`)

// TestHelpOfEveryCommand holds every command to an example and to 80 columns.
func TestHelpOfEveryCommand(t *testing.T) {
	t.Parallel()
	_, commands, found := strings.Cut(help(t), "\nStart:\n")
	if !found {
		t.Fatal("ralph --help lists no commands")
	}
	names := listed.FindAllStringSubmatch(commands, -1)
	if len(names) < 20 {
		t.Fatalf("found %q only in %s", names, commands)
	}
	for _, name := range names {
		help(t, name[1])
	}
}

// example returns a line under Example or Examples that begins with the command. The
// Action's is a step of a workflow, not a command.
func example(command []string) *regexp.Regexp {
	if len(command) == 1 && command[0] == "action" {
		return regexp.MustCompile(`\n      - uses: ralph-loop/ralph@`)
	}
	typed := strings.Join(append([]string{"ralph"}, command...), " ")
	return regexp.MustCompile(`\nExample(?:: |s:\n(?:\n    .*)*\n    )(?:source <\()?` + typed + `(?: |\n)`)
}

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
