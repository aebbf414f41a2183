package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// Hidden is the hidden command by which this program is its own launcher.
const Hidden = "sandboxed"

// selfExe is this program, although its path may lead elsewhere by now.
const selfExe = "/proc/self/exe"

func (w Config) run(ctx context.Context, c process.Command, exec Exec) (process.Result, error) {
	if !slices.Contains([]Level{Namespace, Notify, External}, w.Level) {
		return process.Result{}, fault.Usage(fmt.Sprintf("no sandbox level %q", w.Level), "let Probe choose one", nil)
	}
	if len(c.Argv) == 0 {
		return process.Result{}, errors.New("run: no program named")
	}
	spec, err := w.spec(c)
	if err != nil {
		return process.Result{}, err
	}
	orders, err := spec.memory()
	if err != nil {
		return process.Result{}, err
	}
	defer func() { _ = orders.Close() }()
	ours, theirs, err := newWires()
	if err != nil {
		return process.Result{}, err
	}
	h := newOuterSide(ours, spec.Ports)
	res, err := exec(ctx, w.launcher(c, h, orders, theirs))
	_ = theirs.Close() // the launcher's own end is gone: h hears what it still said, then the end
	h.wait(errors.Is(err, process.ErrAlive))
	if h.failed != nil {
		return process.Result{}, fmt.Errorf("run %s in the sandbox: %w", c.Argv[0], h.failed)
	}
	return h.endResult(res), err
}

func (w Config) spec(c process.Command) (*spec, error) {
	writes, err := w.writePlaces()
	if err != nil {
		return nil, err
	}
	s := &spec{
		Level:  w.Level,
		Argv:   c.Argv,
		Env:    c.Env,
		Dir:    w.Inside(c.Dir),
		UID:    w.UID,
		GID:    w.GID,
		Write:  writes,
		Read:   w.readPlaces(),
		Ports:  w.Ports,
		Files:  len(c.Files),
		Parent: os.Getpid(),
		Off:    w.off,
		ABI:    w.abi,
	}
	if w.mounts() {
		s.Empty = readableSockets(s.Read, s.Write)
		s.Layers = w.Layers
	}
	return s, nil
}

func (w Config) launcher(c process.Command, h *outerSide, orders, theirs *os.File) process.Command {
	first := 3 + len(c.Files)
	c.Argv = []string{selfExe, Hidden, strconv.Itoa(first)}
	c.Env = nil
	c.Dir = "/"
	c.Files = slices.Concat(c.Files, []*os.File{orders, theirs})
	c.Sys = w.sys(c.Sys)
	c.Ended = h.left
	if !w.sameUser() && !w.mounts() {
		c.UID = w.UID
	}
	return c
}

// sys has the kernel make the namespaces: a program with threads cannot enter them all.
func (w Config) sys(from *syscall.SysProcAttr) *syscall.SysProcAttr {
	sys := syscall.SysProcAttr{}
	if from != nil {
		sys = *from
	}
	if w.Level != Namespace {
		sys.Pdeathsig = deathOfRalph
		return &sys
	}
	if w.has(network) {
		sys.Cloneflags |= unix.CLONE_NEWNET
	}
	if w.has(memory) {
		sys.Cloneflags |= unix.CLONE_NEWIPC
	}
	if w.mounts() {
		sys.Cloneflags |= unix.CLONE_NEWNS | unix.CLONE_NEWPID
	}
	if uid := os.Geteuid(); uid != 0 {
		sys.Cloneflags |= unix.CLONE_NEWUSER
		sys.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		sys.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		// What root may do in its namespace would be lost at the launcher's exec.
		sys.AmbientCaps = []uintptr{
			unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN, unix.CAP_NET_BIND_SERVICE,
			unix.CAP_DAC_OVERRIDE, // for an overlay's own folder
		}
	}
	return &sys
}

// spec is passed in memory: others can read argv and the environment.
type spec struct {
	Level       Level
	Argv, Env   []string
	Dir         string
	UID, GID    int
	Write, Read []place
	Empty       []place // sockets
	Layers      []Layer
	Ports       map[int]netip.AddrPort
	Files       int // descriptors from 3 on that belong to the program
	Parent      int // who started the launcher: it must still be there
	Off         []mechanism
	ABI         int
}

func (s *spec) has(m mechanism) bool { return !slices.Contains(s.Off, m) }
func (s *spec) off(m mechanism) bool { return !s.has(m) }

// mounts is as that of Config: then we are the first process of the namespace.
func (s *spec) mounts() bool { return s.Level == Namespace && s.has(mounts) }

func (s *spec) memory() (*os.File, error) {
	var text bytes.Buffer // as gob: an argument need not be UTF-8, which JSON would mend
	if err := gob.NewEncoder(&text).Encode(s); err != nil {
		return nil, fmt.Errorf("write the launcher's orders: %w", err)
	}
	fd, err := unix.MemfdCreate("ralph", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make the launcher's orders: %w", err)
	}
	f := os.NewFile(uintptr(fd), "orders")
	if _, err := f.Write(text.Bytes()); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("write the launcher's orders: %w", err)
	}
	return f, nil
}

func readSpec(f *os.File) (*spec, error) {
	s := new(spec)
	// Its place in the file is shared with who wrote it.
	if err := gob.NewDecoder(io.NewSectionReader(f, 0, 64<<20)).Decode(s); err != nil {
		return nil, fmt.Errorf("read the launcher's orders: %w", err)
	}
	return s, nil
}

// readableSockets returns the local sockets in what can only be read: a read-only mount does not stop a connection.
func readableSockets(reads, writes []place) (found []place) {
	text, _ := os.ReadFile("/proc/net/unix") // of this network namespace
	for line := range strings.Lines(string(text)) {
		_, name, _ := strings.Cut(line, " /") // the columns before have no slash
		path, err := filepath.EvalSymlinks("/" + strings.TrimSuffix(name, "\n"))
		if err != nil || !isSocket(path) { // it is gone, or something else has its name
			continue
		}
		holds := func(p place) bool { return p.Link == "" && process.Under(cmp.Or(p.From, p.Path), path) }
		if slices.ContainsFunc(writes, holds) {
			continue
		}
		for _, read := range reads {
			if holds(read) {
				found = append(found, place{Path: read.Path + strings.TrimPrefix(path, cmp.Or(read.From, read.Path))})
			}
		}
	}
	return found
}

func isSocket(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().Type() == fs.ModeSocket
}
