package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// openLayers makes the mounts of layers. The kernel sees their folders by descriptors: a path may have any letter, or
// lead elsewhere by now.
func (p *launch) openLayers() error {
	for _, l := range p.Layers {
		mount, err := l.overlay()
		if err != nil {
			return fmt.Errorf("layer at %s: %w", l.Path, err)
		}
		p.layers = append(p.layers, mountItem{
			openPlace: openPlace{place: place{Path: l.Path}, file: mount, folder: true},
			isMount:   true,
		})
	}
	return nil
}

func (l Layer) overlay() (*os.File, error) {
	fd, err := unix.Fsopen("overlay", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("fsopen", err)
	}
	defer func() { _ = unix.Close(fd) }()
	set := func(key string, dirs ...string) error {
		var paths []string
		for _, dir := range dirs {
			f, err := place{Path: dir}.open()
			if err != nil {
				return err
			}
			defer func() { _ = f.file.Close() }()
			paths = append(paths, f.path())
		}
		return os.NewSyscallError("fsconfig", unix.FsconfigSetString(fd, key, strings.Join(paths, ":")))
	}
	if err := set("lowerdir", l.Lower...); err != nil {
		return nil, err
	}
	if err := set("upperdir", filepath.Join(l.Upper, Written)); err != nil {
		return nil, err
	}
	if err := set("workdir", filepath.Join(l.Upper, pending)); err != nil {
		return nil, err
	}
	if err := unix.FsconfigSetFlag(fd, "userxattr"); err != nil { // all that a user namespace may write
		return nil, os.NewSyscallError("fsconfig", err)
	}
	if err := unix.FsconfigCreate(fd); err != nil {
		return nil, os.NewSyscallError("fsconfig", err)
	}
	mount, err := unix.Fsmount(fd, unix.FSMOUNT_CLOEXEC, baseMountAttr)
	if err != nil {
		return nil, os.NewSyscallError("fsmount", err)
	}
	return os.NewFile(uintptr(mount), l.Path), nil
}
