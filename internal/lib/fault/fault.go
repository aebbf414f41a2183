// Package fault describes errors that people can fix: what failed, what to do, and the exit code. It prints nothing;
// only the report of cmd/ralph does.
package fault

import "errors"

// Exit codes as users and scripts may rely on them.
const (
	ExitDone        = 0
	ExitStopped     = 1
	ExitUsage       = 2
	ExitInterrupted = 130
)

// Fault is an error with a known remedy. Upper layers pass it on.
type Fault struct {
	What string // what is wrong: lower case, no full stop
	Fix  string // what to try, as an order to the reader
	Exit int    // 0 stands for ExitUsage
	Err  error  // the cause, where there is one
}

// Error returns what went wrong and, where a cause is known, why.
func (f *Fault) Error() string {
	if f.Err == nil {
		return f.What
	}
	return f.What + ": " + f.Err.Error()
}

// Unwrap gives the cause.
func (f *Fault) Unwrap() error { return f.Err }

// Usage returns a fault of the user's words, files or machine: nothing was run.
func Usage(what, fix string, err error) *Fault {
	return &Fault{What: what, Fix: fix, Exit: ExitUsage, Err: err}
}

// Exit returns the code a program ends with for err.
func Exit(err error) int {
	if err == nil {
		return ExitDone
	}
	if f, ok := errors.AsType[*Fault](err); ok && f.Exit != 0 {
		return f.Exit
	}
	return ExitUsage
}

// Hint returns what to try after err, or nothing.
func Hint(err error) string {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f.Fix
	}
	return ""
}

// Told is err and what to try about it, on one line.
func Told(err error) string {
	if fix := Hint(err); fix != "" {
		return err.Error() + " – " + fix
	}
	return err.Error()
}
