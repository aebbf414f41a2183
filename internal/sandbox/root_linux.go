package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// oldRoot is where the machine's own root hangs while the new one is made.
const oldRoot = "/.was"

const procs = "/proc"

// enterNewRoot makes a root of its own that holds what a Sandbox names and nothing
// else. Landlock says what may be opened; this also hides what need not be
// opened to be used, as the sockets of other programs, and makes ReadOnly
// unwritable within a folder that is written to, which Landlock cannot.
func (p *launch) enterNewRoot() error {
	if !p.mounts() {
		return nil
	}
	plan := p.mountPlan()
	if err := emptyRoot(); err != nil {
		return fmt.Errorf("make a root of its own: %w", err)
	}
	// Its own, as long as the program: what lies in the machine's is of others.
	// A folder of Write may lie in one, and would be hidden by it afterwards.
	for _, dir := range []string{ownTemp, sharedMemory} {
		if err := mountTemp(dir); err != nil {
			return fmt.Errorf("bring %s in: %w", dir, err)
		}
	}
	if err := p.mountProc(); err != nil {
		return fmt.Errorf("bring /proc in: %w", err)
	}
	for _, f := range plan {
		if err := f.mount(); err != nil {
			return fmt.Errorf("bring %s in: %w", f.Path, err)
		}
	}
	if err := p.hideEmpty(); err != nil {
		return err
	}
	if err := smallDevices(); err != nil {
		return fmt.Errorf("bring devices in: %w", err)
	}
	return lockRoot()
}

func (p *launch) hideEmpty() error {
	null, err := place{Path: devices[0]}.open()
	if err != nil {
		return err
	}
	for _, l := range p.Empty {
		info, err := os.Lstat(l.Path)
		if err != nil {
			continue // it is gone, or closed to all inside
		}
		switch {
		case info.IsDir():
			err = mountTemp(l.Path)
		case info.Mode().Type() == fs.ModeSocket:
			err = mountItem{openPlace{place: l, file: null.file}, baseMountAttr | unix.MOUNT_ATTR_RDONLY}.bind()
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("empty %s: %w", l.Path, err)
		}
	}
	return nil
}

type mountItem struct {
	openPlace

	attr uint64 // of its mount
}

const baseMountAttr = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV

// openMounts opens all that will be there before anything is mounted.
func (p *launch) openMounts() error {
	for _, l := range p.Read {
		if f, err := l.open(); err == nil {
			p.read = append(p.read, f)
		}
	}
	for _, l := range p.Write {
		f, err := l.open()
		if err != nil {
			return fmt.Errorf("folder to write to: %w", err)
		}
		p.write = append(p.write, f)
	}
	for _, l := range p.ReadOnly {
		f, err := l.open()
		if err != nil {
			return fmt.Errorf("keep from being written to: %w", err)
		}
		p.closed = append(p.closed, f)
	}
	return nil
}

// mountPlan returns the plan: containing folders come first, or they would hide the rest. Links come last: the way to one
// may lead through another, to what is there by then.
func (p *launch) mountPlan() (plan []mountItem) {
	add := func(all []openPlace, attr uint64) {
		for _, f := range all {
			if !isByDescriptor(f.Path) {
				plan = append(plan, mountItem{f, attr})
			}
		}
	}
	add(p.read, baseMountAttr|unix.MOUNT_ATTR_RDONLY)
	add(p.write, baseMountAttr)
	add(p.closed, baseMountAttr|unix.MOUNT_ATTR_RDONLY)
	for _, name := range append(devices, terminals[0]) {
		if f, err := (place{Path: name}).open(); err == nil {
			add([]openPlace{f}, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_RDONLY) // writing to a device works there, changing its mode does not
		}
	}
	if p.PIDs {
		plan = slices.DeleteFunc(plan, func(f mountItem) bool { return f.Path == procs })
	}
	rank := func(f mountItem) int {
		if f.Link != "" {
			return unix.PathMax + strings.Count(f.Path, "/")
		}
		return strings.Count(f.Path, "/")
	}
	slices.SortStableFunc(plan, func(a, b mountItem) int { return rank(a) - rank(b) })
	return plan
}

func (f mountItem) mount() error {
	if f.Link != "" {
		return f.link()
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
		return err
	}
	_, gone := os.Lstat(f.Path)
	if err := mountPoint(f.Path, !f.folder); err != nil {
		return err
	}
	err := f.bind()
	if errors.Is(err, unix.ENOENT) && gone != nil && !f.folder && f.attr&unix.MOUNT_ATTR_RDONLY != 0 {
		return f.copy() // into a file of ours, and not of the user's
	}
	return err
}

func (f mountItem) link() error {
	err := os.MkdirAll(filepath.Dir(f.Path), 0o755)
	if err == nil {
		err = os.Symlink(f.Link, f.Path)
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, unix.EROFS) {
		return nil // it came with what contains it, or is behind a link to what is hidden
	}
	return err
}

// copy is for a file that was replaced since it was opened, as useradd replaces
// /etc/group: the kernel mounts no file that has lost its name. In a user namespace its
// owner may be one that cannot be given: then only the user who could read it has it.
func (f mountItem) copy() error {
	from, err := os.Open(f.path())
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	var was unix.Stat_t
	if err := unix.Fstat(int(from.Fd()), &was); err != nil {
		return err
	}
	if was.Mode&unix.S_IFMT != unix.S_IFREG {
		return unix.ENOENT // /dev/zero has no end
	}
	to, err := os.OpenFile(f.Path, os.O_WRONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	_ = to.Chown(int(was.Uid), int(was.Gid))
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Chmod(fs.FileMode(was.Mode&0o777)), to.Close())
}

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
func (f mountItem) bind() error {
	const flags = unix.AT_EMPTY_PATH | unix.AT_RECURSIVE
	tree, err := unix.OpenTree(int(f.file.Fd()), "", flags|unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("open_tree", err)
	}
	defer func() { _ = unix.Close(tree) }()
	if err := unix.MountSetattr(tree, "", flags, &unix.MountAttr{Attr_set: f.attr}); err != nil {
		return os.NewSyscallError("mount_setattr", err)
	}
	return os.NewSyscallError("move_mount", unix.MoveMount(tree, "", unix.AT_FDCWD, f.Path, unix.MOVE_MOUNT_F_EMPTY_PATH))
}

// emptyRoot swaps the root for an empty one; the old hangs below it.
func emptyRoot() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return os.NewSyscallError("mount", err)
	}
	base, err := mountedFolder()
	if err != nil {
		return err
	}
	if err := unix.Mount("ralph", base, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=16m"); err != nil {
		return os.NewSyscallError("mount", err)
	}
	if err := os.Mkdir(base+oldRoot, 0o700); err != nil {
		return err
	}
	if err := unix.PivotRoot(base, base+oldRoot); err != nil {
		return os.NewSyscallError("pivot_root", err)
	}
	return os.Chdir("/")
}

func mountedFolder() (string, error) {
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
	if own, err := os.Readlink(oldRoot + procs + "/self"); err == nil {
		_ = os.WriteFile(oldRoot+procs+"/sys/kernel/ns_last_pid", []byte(own), 0) // some kernels do not have it
	}
	if err := os.Mkdir(procs, 0o755); err != nil {
		return err
	}
	err := unix.Mount("ralph", procs, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC|unix.MS_RDONLY, "")
	return os.NewSyscallError("mount", err)
}

func mountTemp(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.NewSyscallError("mount", unix.Mount("ralph", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777"))
}

func lockRoot() error {
	if err := unix.Unmount(oldRoot, unix.MNT_DETACH); err != nil {
		return os.NewSyscallError("leave the old root", err)
	}
	if err := os.Remove(oldRoot); err != nil {
		return fmt.Errorf("leave the old root: %w", err)
	}
	set := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	return os.NewSyscallError("lock the root", unix.MountSetattr(unix.AT_FDCWD, "/", 0, &set))
}
