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

// reservedInodes are reserved at most: each takes a descriptor and a tenth of a millisecond. Recover puts back what found none.
const reservedInodes = 32

// reserveRoom takes inodes and room for what is kept in files without a name, where the file system has such: those
// inside may use up the rest of the disk, and what they removed or emptied would stay so.
func (all *Kept) reserveRoom() {
	var limit unix.Rlimit
	_ = unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) // it cannot fail
	most := reservedDescriptors + min(reservedInodes, limit.Cur/32)
	rooms, taken := map[string]*os.File{}, map[string]int64{}
	for _, k := range all.kept {
		for _, size := range k.sizes() {
			taken[k.dir] += size
			if rooms[k.dir] != nil && uint64(len(all.reserved)) >= most {
				continue
			}
			if file, err := k.unnamed(); err == nil {
				rooms[k.dir], all.reserved = file, append(all.reserved, file)
			}
		}
	}
	for dir, room := range rooms {
		_ = unix.Fallocate(int(room.Fd()), 0, 0, taken[dir]) // or the disk is full before they begin
	}
}

// sizes returns what each thing that is kept takes on the disk, and each folder on the way, which may be gone, too.
func (k keptPath) sizes() (all []int64) {
	const block = 4096
	for _, n := range k.content {
		all = append(all, int64(len(n.Text))+2*block)
	}
	for range ancestors(k.name) {
		all = append(all, 2*block)
	}
	return all
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
