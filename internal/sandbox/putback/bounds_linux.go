package putback

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// maxKept limits the memory for each thing. Agents can make thousands: once all have taken maxAll, each has minKept.
// Of larger things, only changes are seen.
const maxKept, maxAll, minKept = 16 << 20, 128 << 20, 16 << 10

// budget is the memory that is left.
type budget int64

func (left *budget) room() int64    { return max(min(maxKept, int64(*left)), minKept) }
func (left *budget) take(bytes int) { *left -= budget(bytes) }

// maxCompared limits how much of larger files is read where the file system misses changes.
const maxCompared = 1 << 30

// readUpTo takes up no more than there is room, and nothing of what is closed to us. It compares as many bytes of larger
// files as are left.
func readUpTo(room int64, e untrusted.Entry, closed error, left *int64) (n savedNode, err error) {
	n.Mode, n.Names = e.Info.Mode(), untrusted.Names(e.Info)
	switch {
	case n.Mode&fs.ModeSymlink != 0:
		to, err := e.In.Readlink(e.Name)
		n.Text = []byte(to)
		return n, err
	case n.Mode.IsRegular():
		n.Text, closed = e.In.ReadFile(e.Name, max(room, 0))
	}
	if closed == nil || !errors.Is(closed, fs.ErrPermission) && !errors.Is(closed, untrusted.ErrLarger) {
		return n, closed
	}
	if at, is := e.Info.Sys().(*syscall.Stat_t); is && errors.Is(closed, fs.ErrPermission) {
		n.WhyUnread = fmt.Sprint(at.Ino, at.Size, at.Ctim) // no program sets when something was changed
		return n, nil
	}
	n.WhyUnread = cmp.Or(e.Version(left), rand.Text()) // what is not known counts as changed
	return n, nil
}
