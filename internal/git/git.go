// Package git lends the program the system's git through one hardened call:
// nothing of the user's or the agent's configuration runs, nothing asks, nothing
// waits for ever. It moves the agent's commits into a repository of the
// program's own, and never believes what it finds in the agent's. It keeps no
// policy: what may pass comes with every call.
//
// What holds at this level even in a hostile tree: no hook, file system
// monitor, filter, pager, editor, helper or transport of its configuration
// runs, every call ends, every output is bounded. What only a wall around Run
// holds: git itself, which parses what the agent wrote, and files outside the
// tree, which includes and links in there may name.
package git

import (
	"context"
	"fmt"
	"strconv"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/process"
)

// Run runs a command to its end. A wall is a Run around another.
type Run = func(context.Context, process.Command) (process.Result, error)

// Git is the system's git.
type Git struct {
	Run   Run
	Path  string // the PATH in which git and what it starts are found
	Home  string // an empty folder of the program's own
	Proxy string // for remotes over http; empty: none
	CA    string // a file of certificates to trust besides; empty: the system's
	User  Person // whose repositories Inspect and Own look at
}

var versionIn = pattern.Of(`^git version (\d+)\.(\d+)(\S*)`)

// Version is git's own, or a fault when there is none that will do.
func (g Git) Version(ctx context.Context) (string, error) {
	out, err := g.Do(ctx, Call{Args: []string{"version"}})
	switch {
	case ctx.Err() != nil:
		return "", err
	case err != nil:
		return "", fault.Usage("git cannot be run", "install git 2.38 or later and see that it is on PATH", err)
	}
	m := versionIn.FindStringSubmatch(string(out))
	if m == nil {
		return "", fault.Usage("git does not say its version", "install git 2.38 or later", nil)
	}
	version := fmt.Sprintf("%s.%s%s", m[1], m[2], m[3])
	major, minor := number(m[1]), number(m[2])
	if major < 2 || major == 2 && minor < 38 {
		return version, fault.Usage("git "+version+" is too old", "install git 2.38 or later", nil)
	}
	return version, nil
}

func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0 // too many digits for a version
	}
	return n
}
