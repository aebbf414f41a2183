// Package confine keeps an agent and the checks of its work in a sandbox. It makes the folders that they write to,
// opens their two ways out (a proxy with an allow list, a model server that holds the keys), finds the sandbox level
// that holds on this machine, and attacks it from inside before anything runs there.
package confine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// Options are what is asked of the sandbox of an agent and its checks.
type Options struct {
	Level sandbox.Level // Auto: the strongest that there is

	UID, GID int    // of the sandboxed programs, if we are root; 0: our own
	Self     string // this program, which an agent's hooks call
	Exec     sandbox.Exec
	Temp     string   // where the folders of sandboxed programs are made; empty: the usual
	Env      []string // ours, as far as it tells where tools are

	// Home is the user's own, where sandboxed programs are to be at home, too; empty:
	// in a job, they get a new one, and the proofs yet another.
	Home      string
	Path      string           // PATH of programs that run outside of the sandbox
	HomeFiles []agent.HomeFile // of Home, for sandboxed programs in a new home
	Read      []string         // programs and files that they can read, with the packages around them
	WorkDirs  []string         // where they will work
	Proofs    bool             // some of them do so in clean checkouts

	BlockedAddresses []string // that External has to keep from them; none: any that are far away
	NoProgramDirs    []string // no programs are used there: the job's workspace, the clone of a proof
	// Private are the user's project, or folders of the job's runner: nothing that holds one can be read.
	Private []string

	Cache string // folder of the job with the caches of an earlier one, and for those of this one; empty: none

	// Needs are of the checks. Services are found at their ports of 127.0.0.1 inside.
	Needs Needs

	Network Network
	Model   Model
	Review  *Model // of the agent that is asked for a second opinion; nil: there is none
}

func (a Options) inJob() bool { return a.Home == "" }

// Sandbox is a sandbox in use, with its two ways out. A nil Sandbox confines nothing: commands run as they do anywhere.
type Sandbox struct {
	Level sandbox.Level

	notes    []journal.Noted
	noted    []journal.Noted // by NoteOnce
	leaky    bool            // something got through at level external
	vars     []string
	base     sandbox.Config
	next     sandbox.Exec
	folders  folders
	servers  *servers
	cache    string // outlives the job
	savedKey string // the key of what was saved there

	mu      sync.Mutex
	pending []journal.Event // that are not on record yet

	trafficReported []egress.Traffic // what passed, as it was reported last
	spentReported   egress.Spent     // what was used of the model, as it was reported last
}

// Start sets the sandbox up, and has it attacked from inside. A level that does
// not hold is a fault; level none is a nil Sandbox.
func Start(ctx context.Context, asked Options) (_ *Sandbox, err error) {
	if err := asked.Needs.checkSecrets(asked.Level); err != nil {
		return nil, err
	}
	services, err := egress.FindServices(ctx, asked.Needs.Services)
	if err != nil {
		return nil, err
	}
	if asked.Level == sandbox.None {
		return nil, nil //nolint:nilnil // a nil Sandbox is one that does nothing
	}
	w := &Sandbox{
		next:    asked.Exec,
		vars:    asked.Needs.Env,
		base:    sandbox.Config{Level: asked.Level, Beyond: asked.BlockedAddresses},
		servers: &servers{services: services},
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	if asked.Level == sandbox.External && len(asked.BlockedAddresses) == 0 {
		w.base.Beyond = egress.Anywhere()
	}
	if os.Geteuid() == 0 {
		w.base.UID, w.base.GID = asked.UID, asked.GID
	}
	lend := func(dir string) error { return w.Lend(ctx, dir, ".") }
	if err := w.folders.create(ctx, asked, lend); err != nil {
		return nil, fault.Usage("cannot make the folders of the sandbox",
			"make HOME and the temporary folder writable, or set HOME and TMPDIR to others", err)
	}
	w.cache = asked.Cache
	if err := w.restoreCaches(ctx, asked.Cache); err != nil {
		w.notes = append(w.notes, journal.Noted{
			What: "the caches of an earlier job are not used: " + fault.Told(err),
			Hint: "set the input cache to a folder that actions/cache restored",
		})
	}
	w.base.Read = w.folders.read
	w.base.Theirs = resolved(asked.WorkDirs)
	w.base.Apart = append(asked.privateFolders(), w.folders.dir)
	if err := w.startServers(ctx, asked); err != nil {
		return nil, err
	}
	w.base = w.base.Fixed()
	w.notes = append(w.notes, w.folders.missingTools(asked)...)
	return w, w.setUp(ctx, asked)
}

func (w *Sandbox) setUp(ctx context.Context, asked Options) error {
	base, open, err := w.base.Strongest(ctx, w.next)
	w.base = base
	w.Level = base.Level
	if w.Level == sandbox.None {
		return fault.Usage("this machine offers no sandbox that contains the network",
			weakerHint(asked), nil)
	}
	w.noteOpen(open)
	if err != nil && fault.Hint(err) == "" {
		return fault.Usage(fmt.Sprintf("the sandbox level %s is not available here", w.Level),
			weakerHint(asked), err)
	}
	if err != nil {
		return err
	}
	if err := w.warm(ctx, asked); err != nil {
		return err
	}
	return w.checkReachable(asked)
}

func (w *Sandbox) checkReachable(asked Options) error {
	if w.base.UID == 0 || w.mounts() {
		return nil
	}
	for _, path := range slices.Concat(asked.WorkDirs, []string{w.folders.dir}) {
		if dir := closedFolder(path); dir != "" {
			return fault.Usage(fmt.Sprintf("the sandbox's user cannot reach %s: %s is closed to others", path, dir),
				"open it: chmod o+x "+dir, nil)
		}
	}
	return nil
}

// closedFolder returns the folder at or above a path that another user cannot enter; empty: there is none.
func closedFolder(path string) string {
	for dir := path; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o001 == 0 {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// weakerHint returns how to go on where a level is missing.
func weakerHint(asked Options) string {
	remedy := cmp.Or(sandbox.RemedyOfAppArmor(sandbox.UserNamespaces), "ralph doctor --sandbox shows what is missing")
	switch {
	case asked.inJob():
		return remedy + "; set sandbox: external if you provide a sandbox, or sandbox: none to run without one"
	case runtime.GOOS != "linux":
		return "--sandbox=docker has Docker confine Claude Code; --no-sandbox runs the agent without a sandbox"
	}
	return remedy + "; --no-sandbox runs the agent without a sandbox"
}

// Name returns the level, as people read it.
func (w *Sandbox) Name() string {
	if w == nil {
		return string(sandbox.None)
	}
	return string(w.Level)
}

// Access is what sandboxed programs can read and write, and how they get out.
type Access struct {
	Write []string
	Read  []string
	At    map[string]string // as in sandbox.Config

	Layers []sandbox.Layer

	Proof bool // where the agent never was: its home is not there either
	Setup bool // to make a folder ready: the way out is setup's
	Alone bool // nothing but that: no home, no way out
}

// Around returns how things run in a place.
func (w *Sandbox) Around(at Access) sandbox.Exec {
	inside := w.base
	inside.At = maps.Clone(at.At)
	inside.Layers = at.Layers
	inside.Write = at.Write
	inside.Read = slices.Concat(w.base.Read, at.Read)
	inside.Ports = nil
	if !at.Alone {
		inside.Write = slices.Concat(w.folders.write(at.Proof), at.Write)
		inside.Layers = slices.Concat(w.folders.layers(at.Proof), at.Layers)
		inside.At = w.folders.at(inside.At)
		inside.Ports = w.servers.ports(at.Setup)
	}
	return inside.Run(w.next)
}

// HasLayers reports whether the layers of a place work. Sandboxed programs must own the files below.
func (w *Sandbox) HasLayers(ctx context.Context, at Access) bool {
	if w == nil || !w.mounts() || w.base.UID != 0 {
		return false
	}
	at.Alone = true
	res, err := w.Around(at)(ctx, process.Command{Argv: []string{"/bin/true"}, Dir: "/"})
	return err == nil && res.Exit == 0
}

// Inside returns the path that a path has for sandboxed programs.
func (w *Sandbox) Inside(at Access, path string) string {
	if w == nil {
		return path
	}
	c := w.base
	c.At = at.At
	return c.Inside(path)
}

// Env returns what env is inside.
func (w *Sandbox) Env(env []string, proof bool) []string {
	if w == nil {
		return env
	}
	all := slices.Concat(w.folders.env(env, proof, w.mounts()), w.servers.env(), w.vars)
	return w.withMaven(all, proof, w.servers.proxy.Port)
}

// mounts reports whether read-only files stay writable for this program.
func (w *Sandbox) mounts() bool { return w.Level == sandbox.Namespace }

// Close ends the ways out, and removes the folders of sandboxed programs and what they left in memory.
func (w *Sandbox) Close() error {
	if w == nil {
		return nil
	}
	return errors.Join(w.servers.close(), w.base.Sweep(), w.folders.close())
}
