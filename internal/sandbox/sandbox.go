// Package sandbox is the sandbox round the agent and its checks: a Command goes
// in, the same Command comes out confined, with the level that was reached and
// an attack from inside that proves it. It never starts a program itself (that
// is internal/process), never speaks to the network for those inside (that is
// internal/egress) and never decides which level is enough.
//
// A confined program is started by this same program: the launcher, which sets
// up what its level has, in the order of launch_linux.go, and then becomes it.
package sandbox

import (
	"context"
	"net/netip"
	"os"
	"slices"

	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/sandbox/putback"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Level is how the sandbox is made; the names are the values of the input sandbox.
type Level string

// The levels, the strongest first.
const (
	Namespace Level = "namespace" // a network of its own, Landlock, seccomp
	Notify    Level = "notify"    // no network; a supervisor connects in its stead
	External  Level = "external"  // the user vouches for what holds the network; the rest as far as it goes
	None      Level = "none"
	Auto      Level = "auto" // the strongest that Probe finds; never a Config's
)

// Levels are all that can be asked for.
func Levels() []Level { return []Level{Auto, Namespace, Notify, External, None} }

// Names are their names, besides those of others that can be asked for as well.
func Names(besides ...string) []string {
	var names []string
	for _, level := range Levels() {
		names = append(names, string(level))
	}
	return append(names, besides...)
}

// Known tells whether l is one of Levels.
func (l Level) Known() bool { return slices.Contains(Levels(), l) }

// Exec runs a Command, as process.Runner.Run does.
type Exec func(context.Context, process.Command) (process.Result, error)

// Config says what is inside. It is data; Run makes it stand.
type Config struct {
	Level Level

	// UID and GID are those of sandboxed programs, which have no other groups.
	// UID 0: our own, as on a laptop.
	UID, GID int

	// What those inside can write, and what they can read besides: programs,
	// libraries and the rest of readable() are always there, and with mounts
	// of its own an empty /tmp, gone afterwards. ReadOnly lies in a folder of
	// Write, and need not exist. Without mounts of its own all sockets in Write
	// can be used: a folder in /tmp, then, and not all of it.
	Write, Read, ReadOnly []string

	// Guards are of folders in which nothing may change but what they name.
	Guards []putback.Guard

	// Apart are folders of which nothing can be read for the sake of another that holds
	// them. What Read names within one can be, and what Write does.
	Apart []string

	// Theirs are folders that those inside write to at other times: no link in one of
	// them is followed, nor in one of Write.
	Theirs []string

	// Fields are what those inside may change of JSON files of Write, as putback has
	// them. The rest is put back.
	Fields map[string][]string

	// Ours is within Write, and is written by this program alone. Mounts
	// enforce that; without them nothing does.
	Ours []string

	// Empty are folders within Write that need not exist. Where there are mounts they
	// begin empty, and what is made in them is gone afterwards.
	Empty []string

	// Ports of 127.0.0.1 inside lead out to these addresses: our proxies, and servers
	// on this machine or another that a person named.
	Ports map[int]netip.AddrPort

	// Beyond are addresses, with ports, of other machines that can be reached
	// from here and must not be from inside. Level external needs one: with
	// somebody else's sandbox nothing else shows whether it stands.
	Beyond []string

	// HostPIDs does without a process namespace, where the machine refuses one. In
	// one, everything that was started inside ends with the launcher.
	HostPIDs bool

	// Mended gets what had to be put back of ReadOnly. May be nil.
	Mended func(paths []string) `json:"-"`

	// Mark keeps what putback.Recover needs if this process is killed. May be nil.
	Mark func(text []byte) (done func(all bool) error) `json:"-"`

	fixed []place // that can be read, as they were before anything ran inside; nil: as they are

	off []mechanism // taken away by tests, to see that a probe gets through
	abi int         // the Landlock that tests pretend to find; 0: the kernel's

	daemons []string // more sockets for the attack to try
}

// place is to be had inside. Its path has no link in it.
type place struct {
	Path string
	Link string // not empty: it is a link itself, to there
}

// Run confines what next runs. Programs inside die with the launcher, as its descendants.
func (w Config) Run(exec Exec) Exec {
	if w.Level == None {
		return exec
	}
	return func(ctx context.Context, c process.Command) (process.Result, error) {
		return w.run(ctx, c, exec)
	}
}

var (
	// ssh://git@host reveals nothing, and cargo:token names a program.
	loginPattern = pattern.Of(`(?i)_auth|passw|passphrase|pass["']?\s*[=:]|(?:^|[^:])token|secret|[_-]key\b|api_?key|private_?key|bearer|extraheader|[^h]://[^/\s]+@|://[^/\s:]*:[^/\s]+@`)
	comment      = pattern.Of(`(?s)<!--.*?-->`) // Maven's own settings explain passwords
)

// FileHoldsLogin tells whether a file of settings seems to hold a login, or cannot be read.
func FileHoldsLogin(path string) bool {
	text, err := untrusted.ReadFile(path, 1<<20)
	return err != nil || TextHoldsLogin(string(text))
}

// TextHoldsLogin tells whether settings seem to hold a login.
func TextHoldsLogin(text string) bool {
	return loginPattern.MatchString(comment.ReplaceAllString(text, ""))
}

type mechanism string

const (
	network  mechanism = "network namespace"
	mounts   mechanism = "mounts"
	memory   mechanism = "memory namespace"
	files    mechanism = "landlock files"
	ports    mechanism = "landlock ports"
	scopes   mechanism = "landlock scopes"
	notified mechanism = "supervisor"
	injected mechanism = "supervisor's own sockets"
	owner    mechanism = "supervisor's look at the owner"
	user     mechanism = "another user"
	caps     mechanism = "no capabilities"
	mending  mechanism = "put back"
	parting  mechanism = "what is apart"
	crossing mechanism = "links of theirs"
)

func (w Config) has(m mechanism) bool { return !slices.Contains(w.off, m) }

// mounts reports private mounts, and pids a process namespace with its own /proc.
func (w Config) mounts() bool { return w.Level == Namespace && w.has(mounts) }
func (w Config) pids() bool   { return w.mounts() && !w.HostPIDs }

// Launcher is the hidden command between process and a confined program.
type Launcher struct {
	Args []string // what follows the command's name
	Env  []string // our own: what internal/process marks descendants with
	// Deaf makes the supervisor survive the signals that ask a program to end:
	// signal.Notify into a channel without a reader.
	Deaf func(...os.Signal)
	Exit func(code int)
}

// ReportedError is an error of Launch that who started it knows, and tells of.
type ReportedError struct{ Err error }

func (t ReportedError) Error() string { return t.Err.Error() }

// Unwrap gives the error itself.
func (t ReportedError) Unwrap() error { return t.Err }

// Report is what a machine offers, found by doing.
type Report struct {
	Level Level // the strongest that works; None where nothing does
	Found []Mechanism

	HostPIDs bool // Level does without a process namespace
}

// Mechanism is a part of the sandbox, as a person asks for it.
type Mechanism struct {
	Name   string `json:"name"`
	Found  bool   `json:"found"`
	Detail string `json:"detail,omitempty"` // its version, or why it is not there
}

// Probe tries the levels for base, the strongest first, with a program that reaches itself.
func Probe(ctx context.Context, base Config, exec Exec) Report {
	return probe(ctx, base, exec)
}

// Apply is w with the way that was found to work, for Auto at the strongest level.
func (r Report) Apply(w Config) Config {
	if w.Level == Auto {
		w.Level = r.Level
	}
	w.HostPIDs = w.Level == Namespace && r.HostPIDs
	return w
}
