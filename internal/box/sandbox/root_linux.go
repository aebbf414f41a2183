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

// oldRoot is where the machine's own root hangs while the new one is made.
const oldRoot = "/.was"

const procs = "/proc"

// enterNewRoot makes a root of its own that holds what a Sandbox names and nothing else. Landlock says what may be
// opened; this also hides what need not be opened to be used, as the sockets of other programs.
func (p *launch) enterNewRoot() error {
	if !p.mounts() {
		return nil
	}
	plan, links := p.mountPlan()
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
	if err := leaveOldRoot(); err != nil { // where a link of those inside could lead
		return fmt.Errorf("leave the old root: %w", err)
	}
	for _, f := range links {
		if err := f.link(); err != nil {
			return fmt.Errorf("bring %s in: %w", f.Path, err)
		}
	}
	if err := smallDevices(); err != nil {
		return fmt.Errorf("bring devices in: %w", err)
	}
	return lockRoot()
}

// hideEmpty puts a device in place of sockets that could be connected to although they can only be read.
func (p *launch) hideEmpty() error {
	null, err := place{Path: devices[0]}.open()
	if err != nil {
		return err
	}
	for _, l := range p.Empty {
		if !isSocket(l.Path) {
			continue // it is gone, or closed to all inside
		}
		empty := mountItem{
			openPlace: openPlace{place: l, file: null.file},
			attr:      baseMountAttr | unix.MOUNT_ATTR_RDONLY,
		}
		err := empty.mount()
		if err != nil && !errors.Is(err, unix.EROFS) { // just now
			return fmt.Errorf("empty %s: %w", l.Path, err)
		}
	}
	return nil
}

type mountItem struct {
	openPlace

	attr    uint64 // of its mount
	isMount bool   // file is that of a mount
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
	return p.openLayers()
}

// mountPlan returns the plan: containing folders come first, or they would hide the rest. Links come last: the way to
// one may lead through another, to what is there by then.
func (p *launch) mountPlan() (plan []mountItem, links []openPlace) {
	add := func(all []openPlace, attr uint64) {
		for _, f := range all {
			switch {
			case f.Link != "":
				links = append(links, f)
			case !isByDescriptor(f.Path):
				plan = append(plan, mountItem{openPlace: f, attr: attr})
			}
		}
	}
	add(p.read, baseMountAttr|unix.MOUNT_ATTR_RDONLY)
	add(p.write, baseMountAttr)
	plan = append(plan, p.layers...)
	for _, name := range append(devices, terminals[0]) {
		if f, err := (place{Path: name}).open(); err == nil {
			// Writing to a device works on a read-only mount, changing its mode does not.
			add([]openPlace{f}, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_RDONLY)
		}
	}
	plan = slices.DeleteFunc(plan, func(f mountItem) bool { return f.Path == procs })
	depth := func(a, b place) int { return strings.Count(a.Path, "/") - strings.Count(b.Path, "/") }
	slices.SortStableFunc(plan, func(a, b mountItem) int { return depth(a.place, b.place) })
	slices.SortStableFunc(links, func(a, b openPlace) int { return depth(a.place, b.place) })
	return plan, links
}

// mount leaves out what can only be read, and layers, where those inside have put something else on their way. It also
// leaves out a file that was replaced just now, as useradd replaces /etc/group: the kernel mounts none without a name.
func (f mountItem) mount() error {
	point, isNew, err := f.point()
	if err == nil {
		defer func() { _ = unix.Close(point) }()
		err = f.bind(point)
	}
	isReadOnly := f.attr&unix.MOUNT_ATTR_RDONLY != 0
	isReplaced := errors.Is(err, unix.ENOENT) && isNew && !f.folder
	if isReplaced && isReadOnly {
		return f.removePoint()
	}
	isBlocked := errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR)
	if isBlocked && (isReadOnly || f.isMount) {
		return nil
	}
	return err
}

// point makes what f is mounted on, and follows no link: in a folder of At, those inside may have made one.
func (f mountItem) point() (fd int, isNew bool, err error) {
	dir, err := makeFolder(filepath.Dir(f.Path), unix.RESOLVE_NO_SYMLINKS)
	if err != nil {
		return -1, false, err
	}
	defer func() { _ = unix.Close(dir) }()
	name := filepath.Base(f.Path)
	flags := unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC
	if f.folder {
		flags |= unix.O_DIRECTORY
		err = unix.Mkdirat(dir, name, 0o755)
	} else {
		err = unix.Mknodat(dir, name, unix.S_IFREG|0o644, 0)
	}
	isNew = err == nil
	if !isNew && !errors.Is(err, unix.EEXIST) {
		return -1, false, err
	}
	fd, err = unix.Openat(dir, name, flags, 0)
	return fd, isNew, err
}

// removePoint follows no link either: one could lead to the old root.
func (f mountItem) removePoint() error {
	dir, err := makeFolder(filepath.Dir(f.Path), unix.RESOLVE_NO_SYMLINKS)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(dir) }()
	return unix.Unlinkat(dir, filepath.Base(f.Path), 0)
}

// makeFolder opens a folder, and makes it and those above it where they are missing.
func makeFolder(path string, resolve uint64) (int, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: resolve}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
	if !errors.Is(err, unix.ENOENT) {
		return fd, err
	}
	above, err := makeFolder(filepath.Dir(path), resolve)
	if err != nil {
		return -1, err
	}
	defer func() { _ = unix.Close(above) }()
	if err := unix.Mkdirat(above, filepath.Base(path), 0o755); err != nil && !errors.Is(err, unix.EEXIST) {
		return -1, err
	}
	return unix.Openat2(above, filepath.Base(path), &how)
}

// link makes a link that is not there. It came with what contains it, or is behind a link to what is hidden, or those
// inside have something else on its way.
func (f openPlace) link() error {
	dir, err := makeFolder(filepath.Dir(f.Path), unix.RESOLVE_NO_MAGICLINKS)
	if err == nil {
		err = unix.Symlinkat(f.Link, dir, filepath.Base(f.Path))
		_ = unix.Close(dir)
	}
	if slices.Contains([]error{unix.EEXIST, unix.EROFS, unix.ENOENT, unix.ENOTDIR, unix.ELOOP}, err) {
		return nil
	}
	return err
}

// bind adds attributes and takes none away: a user namespace may not.
func (f mountItem) bind(point int) error {
	if f.isMount {
		return moveMount(int(f.file.Fd()), point)
	}
	const flags = unix.AT_EMPTY_PATH | unix.AT_RECURSIVE
	tree, err := unix.OpenTree(int(f.file.Fd()), "", flags|unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("open_tree", err)
	}
	defer func() { _ = unix.Close(tree) }()
	if err := unix.MountSetattr(tree, "", flags, &unix.MountAttr{Attr_set: f.attr}); err != nil {
		return os.NewSyscallError("mount_setattr", err)
	}
	return moveMount(tree, point)
}

func moveMount(mount, point int) error {
	const flags = unix.MOVE_MOUNT_F_EMPTY_PATH | unix.MOVE_MOUNT_T_EMPTY_PATH
	return os.NewSyscallError("move_mount", unix.MoveMount(mount, "", point, "", flags))
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

// mountProc shows the processes of the namespace alone. Their numbers begin after our number outside: if every command
// began with 2, a lock file that holds the number of a process would name another process in the next command.
func (p *launch) mountProc() error {
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

func leaveOldRoot() error {
	if err := unix.Unmount(oldRoot, unix.MNT_DETACH); err != nil {
		return os.NewSyscallError("umount", err)
	}
	return os.Remove(oldRoot)
}

func lockRoot() error {
	set := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	return os.NewSyscallError("lock the root", unix.MountSetattr(unix.AT_FDCWD, "/", 0, &set))
}
