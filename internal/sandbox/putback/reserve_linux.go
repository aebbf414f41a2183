package putback

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// reservedDescriptors descriptors are reserved: those inside may use up the others by connections.
const reservedDescriptors = 16

func (all *Kept) reserve() error {
	for range reservedDescriptors {
		null, err := os.Open(os.DevNull)
		if err != nil {
			return fmt.Errorf("set a descriptor aside: %w", err)
		}
		all.reserved = append(all.reserved, null)
	}
	all.reserveRoom()
	return nil
}

// reserveRoom takes the room for what is kept in files without a name, where the file system has such: those inside
// may use up the rest of the disk, and what they emptied would stay so.
func (all *Kept) reserveRoom() {
	const block = 4096
	rooms := map[string]*os.File{}
	sizes := map[string]int64{}
	for _, k := range all.kept {
		if rooms[k.dir] == nil {
			room, err := k.unnamed()
			if err != nil {
				continue
			}
			rooms[k.dir], all.reserved = room, append(all.reserved, room)
		}
		for _, n := range k.content {
			sizes[k.dir] += int64(len(n.Text)) + 2*block
		}
	}
	for dir, room := range rooms {
		_ = unix.Fallocate(int(room.Fd()), 0, 0, sizes[dir]) // or the disk is full before they begin
	}
}

// unnamed returns a new file in the folder.
func (k keptPath) unnamed() (*os.File, error) {
	folder, err := k.root.Root.Open(".")
	if err != nil {
		return nil, err
	}
	defer folder.Close() //nolint:errcheck // only a handle
	fd, err := unix.Openat(int(folder.Fd()), ".", unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	return os.NewFile(uintptr(fd), k.dir), err
}

func (all Kept) release() error {
	var errs []error
	for _, f := range all.reserved {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
