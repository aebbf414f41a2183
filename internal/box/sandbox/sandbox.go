// Package sandbox is the sandbox round the agent and its checks: a Command goes in, the same Command comes out
// confined, with the level that was reached and a check from inside that it holds. It never starts a program itself
// (that is internal/lib/process), never speaks to the network for those inside (that is internal/box/egress) and never
// decides which level is enough.
//
// A confined program is started by this same program: the launcher, which sets up what its level has, in the order of
// launch_linux.go. It stays as the first process of a namespace, or as a supervisor, and all inside end with it.
package sandbox

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/redact"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// Level is how the sandbox is made; the names are the values of the input sandbox.
type Level string

// The levels, the strongest first.
const (
	Namespace Level = "namespace" // a network, mounts and processes of its own, Landlock, seccomp
	Notify    Level = "notify"    // no network; a supervisor connects in its stead
	External  Level = "external"  // the user vouches for what holds the network; the rest as far as it goes
	None      Level = "none"
	Auto      Level = "auto" // the strongest that Strongest finds; never a Config's
)

// Levels returns all that can be asked for.
func Levels() []Level { return []Level{Auto, Namespace, Notify, External, None} }

// Names are their names, besides those of others that can be asked for as well.
func Names(besides ...string) []string {
	var names []string
	for _, level := range Levels() {
		names = append(names, string(level))
	}
	return append(names, besides...)
}

// Known reports whether l is one of Levels.
func (l Level) Known() bool { return slices.Contains(Levels(), l) }

// Exec runs a Command, as process.Runner.Run does.
type Exec func(context.Context, process.Command) (process.Result, error)

// Config says what is inside. It is data; Run applies it.
type Config struct {
	Level Level

	// UID and GID are those of sandboxed programs, which have no other groups. UID 0: our own.
	UID, GID int

	// Write are folders that can be written to. Read can be read, besides what readable lists. With mounts /tmp is
	// empty and temporary. Without them all sockets in Write can be used, so Write must not hold all of /tmp.
	Write, Read []string

	// At are the paths inside of some of Write and Read, where there are mounts. Their own paths lead nowhere there.
	At map[string]string

	// Layers can be written to, where there are mounts: what is written lies in another folder.
	Layers []Layer

	// Apart are folders that cannot be read, except what Read and Write name within them.
	Apart []string

	// Theirs are folders that sandboxed programs write to at other times. Links in them are not
	// followed, nor links in Write.
	Theirs []string

	Ports map[int]netip.AddrPort // ports of 127.0.0.1 inside that lead to these addresses

	// Beyond are addresses of other machines that can be reached from here and must not be from
	// inside. Level external needs one: nothing else shows whether the external sandbox holds.
	Beyond []string

	fixed []place // that can be read, as they were before anything ran inside; nil: as they are

	off []mechanism // taken away by tests, to see that a probe gets through
	abi int         // the Landlock that tests pretend to find; 0: the kernel's
}

// Layer is a folder as it seems to be inside. Overlays of the kernel are not available everywhere, nor on each file
// system.
type Layer struct {
	Path  string   // inside
	Lower []string // the folders below, the uppermost first, which stay as they are
	Upper string   // folder for what is written, made by MakeUpper
}

// Written is the folder in an Upper with what was written.
const (
	Written = "written"
	pending = "pending" // the kernel's own
)

// MakeUpper makes an empty Upper.
func MakeUpper(dir string) error {
	if err := untrusted.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, Written), 0o755); err != nil {
		return err
	}
	return os.Mkdir(filepath.Join(dir, pending), 0o755)
}

// place is to be had inside. Its path has no link in it.
type place struct {
	From string // where it is outside; empty: Path
	Path string
	Link string // not empty: it is a link itself, to there
}

// Inside returns the path that a path has inside.
func (w Config) Inside(path string) string {
	if !w.mounts() {
		return path
	}
	for from, at := range w.At {
		if below, err := filepath.Rel(from, path); err == nil && filepath.IsLocal(below) {
			return filepath.Join(at, below)
		}
	}
	return path
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
	// Words and forms of logins, in lower case. ssh://git@host reveals nothing, and cargo:token names a program.
	loginWords = []string{
		"_auth", "passw", "passphrase", "secret", "accesskey", "accountkey", `"auth"`, "bearer", "authorization",
		"extraheader", "token",
	}
	loginForms = []*pattern.Pattern{
		pattern.Of(`pass["']?\s*[=:]`),
		pattern.Of(`pwd["']?\s*[=:]`),
		pattern.Of(`_key\b`),
		pattern.Of(`-key\b`),
		pattern.Of(`_pat\b`),
		pattern.Of(`private[ _]?key`),
		pattern.Of(`api_?key`),
		pattern.Of(`[^h]://[^/\s]+@`),
		pattern.Of(`://[^/\s:]*:[^/\s]+@`),
		pattern.Of(`://[^/\s]+/t/`),
		pattern.Of(`=\s*["']?[\w.-]+:[^\s/@"'{}\\]+@`),
	}
	comment     = pattern.Of(`(?s)<!--.*?-->`) // Maven's own settings explain passwords
	javaComment = pattern.Of(`(?m)^[ \t]*#.*`) // so do those of Java
	tokens      = sync.OnceValue(func() *redact.Redactor { return redact.New() })
)

// FileHoldsLogin reports whether a file of settings seems to hold a login, or cannot be read. What is no text holds
// none.
func FileHoldsLogin(path string) bool {
	text, err := untrusted.ReadFile(path, 1<<20)
	if err != nil {
		return true
	}
	settings := string(text)
	if filepath.Ext(path) == ".properties" {
		settings = javaComment.ReplaceAllString(settings, "")
	}
	return !strings.Contains(settings, "\x00") && TextHoldsLogin(settings)
}

// TextHoldsLogin reports whether settings seem to hold a login.
func TextHoldsLogin(text string) bool {
	text = comment.ReplaceAllString(text, "")
	lower := strings.ReplaceAll(strings.ToLower(text), ":token", "")
	if slices.ContainsFunc(loginWords, func(word string) bool { return strings.Contains(lower, word) }) {
		return true
	}
	if slices.ContainsFunc(loginForms, func(form *pattern.Pattern) bool { return form.MatchString(lower) }) {
		return true
	}
	return tokens().String(text) != text
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
	owner    mechanism = "supervisor's look at the owner"
	user     mechanism = "another user"
	caps     mechanism = "no capabilities"
	parting  mechanism = "what is apart"
	crossing mechanism = "links of theirs"
)

func (w Config) has(m mechanism) bool { return !slices.Contains(w.off, m) }

// mounts reports private mounts, and a process namespace with its own /proc.
func (w Config) mounts() bool { return w.Level == Namespace && w.has(mounts) }

func (w Config) sameUser() bool { return w.UID == 0 || w.UID == os.Geteuid() }

// Launcher is the hidden command between process and a confined program.
type Launcher struct {
	Args []string // what follows the command's name
	Env  []string // our own: what internal/lib/process marks descendants with
	// Hear is signal.Notify into a new channel. Without a reader, the launcher survives these signals.
	Hear func(...os.Signal) <-chan os.Signal
	Exit func(code int)
}

// ReportedError is an error of Launch that who started it knows, and tells of.
type ReportedError struct{ Err error }

func (t ReportedError) Error() string { return t.Err.Error() }

// Unwrap gives the error itself.
func (t ReportedError) Unwrap() error { return t.Err }
