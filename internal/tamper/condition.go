package tamper

import (
	"strings"
)

// never tells whether a condition that checks stand under cannot hold.
func never(condition []word) bool {
	switch joined(inside(condition)) {
	case "false", "False", "0", "! true", "not True", "not __debug__", "None", "null", "1 == 2", "1 == 0":
		return true
	}
	for _, part := range split(condition, "&&", "and") {
		if len(part) == 1 && part[0].is("false", "False") {
			return true
		}
	}
	return false
}

// elsewhere tells whether a condition asks about the machine.
func elsewhere(condition []word) bool {
	all := joined(condition)
	for _, asks := range []string{"os . Getenv", "os . LookupEnv", "runtime . GOOS", "testing . Short", "os . environ", "os . getenv", "process . env", "sys . platform", "process . platform"} {
		if strings.Contains(all, asks) {
			return true
		}
	}
	return false
}
