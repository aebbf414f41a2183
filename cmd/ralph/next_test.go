package main_test

import (
	"regexp"

	"github.com/rogpeppe/go-internal/testscript"
)

var (
	nextList    = regexp.MustCompile(`(?m)^Next:\n((?:  .*\n)+)`)
	listCommand = regexp.MustCompile(`(?m)(?:^ +|: )((?:\S*/)?(?:ralph|git|rm) .*)$`)
	nextLine    = regexp.MustCompile(`(?m)^ *next: (.*)$`)
	lineCommand = regexp.MustCompile("`((?:ralph|git) [^`]*)`|(?:^|: )((?:ralph|git) .*)$")
	alarm       = regexp.MustCompile(`(?m)^(?:ralph|warning): .*$`)
)

// runNext runs, in their order, the commands that the last command printed as next steps: those of the list "Next:",
// and those of lines "next: ". Each must succeed, and print neither a note nor an error of ralph to standard error.
func runNext(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: next")
	}
	said := ts.ReadFile("stdout") + "\n" + ts.ReadFile("stderr")
	var commands []string
	for _, list := range nextList.FindAllStringSubmatch(said, -1) {
		for _, found := range listCommand.FindAllStringSubmatch(list[1], -1) {
			commands = append(commands, found[1])
		}
	}
	for _, line := range nextLine.FindAllStringSubmatch(said, -1) {
		for _, found := range lineCommand.FindAllStringSubmatch(line[1], -1) {
			commands = append(commands, found[1]+found[2])
		}
	}
	if len(commands) == 0 {
		ts.Fatalf("the last command printed no next step")
	}
	for _, command := range commands {
		if err := ts.Exec("sh", "-c", command); err != nil {
			ts.Fatalf("the next step %q: %v", command, err)
		}
		if line := alarm.FindString(ts.ReadFile("stderr")); line != "" {
			ts.Fatalf("the next step %q prints %q", command, line)
		}
	}
}
