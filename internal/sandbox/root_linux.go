package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// was is where the machine's own root hangs while the new one is made.
const was = "/.was"

const procs = "/proc"

// moveIn makes a root of its own that holds what a Wall names and nothing
// else. Landlock says what may be opened; this also hides what need not be
// opened to be used, as the sockets of other programs, and makes ReadOnly
// unwritable within a folder that is written to, which Landlock cannot.
func (p *launch) moveIn() error {
	if p.Level != Namespace || p.Flat {
		return nil
	}
	plan, err := p.furniture()
	if err != nil {
		return err
	}
	if err := emptyRoot(); err != nil {
		return fmt.Errorf("make a root of its own: %w", err)
	}
	// Its own, as long as the program: what lies in the machine's is of others.
	// A folder of Write may lie in one, and would be hidden by it afterwards.
	for _, dir := range []string{ownTemp, sharedMemory} {
		if err := scratch(dir); err != nil {
			return fmt.Errorf("bring %s in: %w", dir, err)
		}
	}
	if err := p.mountProc(); err != nil {
		return fmt.Errorf("bring /proc in: %w", err)
	}
	for _, f := range plan {
		if err := f.place(); err != nil {
			return fmt.Errorf("bring %s in: %w", f.path, err)
		}
	}
	if err := smallDevices(); err != nil {
		return fmt.Errorf("bring devices in: %w", err)
	}
	return lockRoot()
}

// piece is one thing to be seen inside.
type piece struct {
	path string // by this name
	real string // where it is on the machine; the same, or path is a link to it
	attr uint64 // of its mount
	file bool
}

func (p *launch) furniture() ([]piece, error) {
	const plain = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	var plan []piece
	add := func(paths []string, attr uint64, needed bool) error {
		for _, path := range paths {
			found, err := find(path, attr)
			switch {
			case err == nil:
				plan = append(plan, found...)
			case needed || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission):
				return fmt.Errorf("bring %s in: %w", path, err)
			}
		}
		return nil
	}
	err := errors.Join(
		add(append(readable(), p.Read...), plain|unix.MOUNT_ATTR_RDONLY, false),
		add(p.Write, plain, true),
		add(p.ReadOnly, plain|unix.MOUNT_ATTR_RDONLY, false),
		add(devices, unix.MOUNT_ATTR_NOSUID, false),
		add(terminals[:1], unix.MOUNT_ATTR_NOSUID, false),
	)
	if p.PIDs {
		plan = slices.DeleteFunc(plan, func(f piece) bool { return f.path == procs })
	}
	// What contains others comes before them, or would hide them.
	slices.SortStableFunc(plan, func(a, b piece) int { return strings.Count(a.path, "/") - strings.Count(b.path, "/") })
	return plan, err
}

// find follows links once, outside: a path that is one stays one, to a place
// that is brought in too.
func find(path string, attr uint64) ([]piece, error) {
	if !filepath.IsAbs(path) {
		return nil, errors.New("not absolute")
	}
	if strings.HasPrefix(path, "/proc/self/fd/") {
		return nil, nil // lent: it is reached by its descriptor
	}
	path = filepath.Clean(path)
	place, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(place)
	if err != nil {
		return nil, err
	}
	found := []piece{{path: place, real: place, attr: attr, file: !info.IsDir()}}
	if place != path {
		found = append(found, piece{path: path, real: place})
	}
	return found, nil
}

func (f piece) place() error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
		return err
	}
	if f.path != f.real {
		err := os.Symlink(f.real, f.path)
		if errors.Is(err, fs.ErrExist) || errors.Is(err, unix.EROFS) {
			return nil // it came with what contains it
		}
		return err
	}
	if err := mountPoint(f.path, f.file); err != nil {
		return err
	}
	return bind(was+f.real, f.path, f.attr)
}

// mountPoint makes a thing to mount on, where it did not come with its folder.
func mountPoint(path string, file bool) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	if !file {
		return os.MkdirAll(path, 0o755)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// bind adds attributes and takes none away: a user namespace may not.
func bind(from, to string, attr uint64) error {
	if err := unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return os.NewSyscallError("mount", err)
	}
	set := unix.MountAttr{Attr_set: attr}
	err := unix.MountSetattr(unix.AT_FDCWD, to, unix.AT_RECURSIVE|unix.AT_SYMLINK_NOFOLLOW, &set)
	return os.NewSyscallError("mount_setattr", err)
}

// emptyRoot swaps the root for an empty one; the old hangs below it.
func emptyRoot() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return os.NewSyscallError("mount", err)
	}
	base, err := anyFolder()
	if err != nil {
		return err
	}
	if err := unix.Mount("ralph", base, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=16m"); err != nil {
		return os.NewSyscallError("mount", err)
	}
	if err := os.Mkdir(base+was, 0o700); err != nil {
		return err
	}
	if err := unix.PivotRoot(base, base+was); err != nil {
		return os.NewSyscallError("pivot_root", err)
	}
	return os.Chdir("/")
}

func anyFolder() (string, error) {
	for _, dir := range []string{"/tmp", "/mnt", "/run", "/proc"} {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			return dir, nil
		}
	}
	return "", fs.ErrNotExist
}

// mountProc shows the processes of the namespace alone. Their numbers begin after
// our number outside: if every command began with 2, a lock file that holds the
// number of a process would name another process in the next command.
func (p *launch) mountProc() error {
	if !p.PIDs {
		return nil
	}
	if own, err := os.Readlink(was + procs + "/self"); err == nil {
		_ = os.WriteFile(was+procs+"/sys/kernel/ns_last_pid", []byte(own), 0) // some kernels do not have it
	}
	if err := os.Mkdir(procs, 0o755); err != nil {
		return err
	}
	err := unix.Mount("ralph", procs, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC|unix.MS_RDONLY, "")
	return os.NewSyscallError("mount", err)
}

// smallDevices are the ones that it gets new: terminals that nobody outside has
// a part in.
func smallDevices() error {
	if err := os.MkdirAll("/dev/pts", 0o755); err != nil {
		return err
	}
	if err := unix.Mount("ralph", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"); err != nil {
		return os.NewSyscallError("mount", err)
	}
	links := map[string]string{
		"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	}
	for name, to := range links {
		if err := os.Symlink(to, "/dev/"+name); err != nil {
			return err
		}
	}
	return nil
}

// scratch is an empty folder for everybody.
func scratch(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.NewSyscallError("mount", unix.Mount("ralph", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777"))
}

// lockRoot lets the machine's root go and the new one be.
func lockRoot() error {
	if err := unix.Unmount(was, unix.MNT_DETACH); err != nil {
		return os.NewSyscallError("leave the old root", err)
	}
	if err := os.Remove(was); err != nil {
		return fmt.Errorf("leave the old root: %w", err)
	}
	set := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	return os.NewSyscallError("lock the root", unix.MountSetattr(unix.AT_FDCWD, "/", 0, &set))
}
