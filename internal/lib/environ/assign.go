package environ

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// CheckVariable refuses a variable that a person sets for checks and the agent if it is not NAME=value. It also refuses
// names of tokens, of the job, names that ralph or the sandbox sets, and names by which programs are found or loaded.
// The error omits the value, which may be secret.
func CheckVariable(line string) error {
	if name, _, _ := strings.Cut(line, "="); strings.HasSuffix(strings.ToUpper(name), "_TOKEN") {
		return fmt.Errorf("%s is for check-secrets: the agent gets the other variables", name)
	}
	return checkName(line)
}

// CheckSecret also refuses values that are too short to be hidden in output.
func CheckSecret(line string) error {
	if err := checkName(line); err != nil {
		return err
	}
	if _, value, _ := strings.Cut(line, "="); len(strings.TrimSpace(value)) < shortest {
		return fmt.Errorf("the value has less than %d characters, too few to hide it in logs", shortest)
	}
	return nil
}

// CheckLines returns the error of the first line that check refuses.
func CheckLines(lines []string, check func(string) error) error {
	for i, line := range lines {
		if err := check(line); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return nil
}

func checkName(line string) error {
	name, _, ok := strings.Cut(line, "=")
	if !ok || !variable.MatchString(name) {
		return errors.New("write NAME=value")
	}
	if isReserved(name) {
		return fmt.Errorf("%s cannot be set: ralph, the sandbox or the shell depends on it", name)
	}
	return nil
}

func isReserved(name string) bool {
	if slices.Contains(reserved, name) || slices.Contains(proxies, name) {
		return true
	}
	upper := strings.ToUpper(name)
	begins := func(prefix string) bool { return strings.HasPrefix(upper, prefix) }
	return slices.ContainsFunc(jobPrefixes, begins) || slices.ContainsFunc(reservedPrefixes, begins)
}

var (
	variable = pattern.Of(`^[A-Za-z_][A-Za-z0-9_]*$`)
	reserved = strings.Fields(`
		PATH HOME USER LOGNAME SHELL TMPDIR ENV BASH_ENV BASHOPTS SHELLOPTS IFS PS4 CLAUDECODE
	`)
	reservedPrefixes = strings.Fields("RALPH_ LD_ DYLD_ GIT_ BASH_FUNC_ CLAUDE_CODE_")
)

// shortest is the shortest value that package redact hides.
const shortest = 6
