package sandbox

import "os"

// Launcher is this program as the hidden command that stands between internal/
// process and what is confined.
type Launcher struct {
	Args []string // what follows the command's name
	Env  []string // our own: what internal/process marks descendants with
	// Deaf makes the supervisor live through the signals that ask a program to
	// end: signal.Notify into a channel that nobody reads.
	Deaf func(...os.Signal)
	Exit func(code int)
}

// Told is an error of Launch that who started it knows, and tells of.
type Told struct{ Err error }

func (t Told) Error() string { return t.Err.Error() }

// Unwrap gives the error itself.
func (t Told) Unwrap() error { return t.Err }
