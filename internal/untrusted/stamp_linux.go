package untrusted

import (
	"fmt"
	"slices"
	"syscall"
)

// timed are file systems that note the time of each change, also of one through a mapping: ext4,
// XFS, Btrfs, F2FS and ZFS. Others, such as tmpfs, miss those to a page that was read before.
var timed = []int64{0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1}

// Stamp tells whether a file or folder may have changed, at the cost of no content, of which there can
// be any amount: an agent cannot set the time of a change. It is empty where that is not known.
func (e Entry) Stamp() string {
	stat, is := e.Info.Sys().(*syscall.Stat_t)
	if !is {
		return ""
	}
	stamp := fmt.Sprint(e.Info.Mode(), stat.Ino, stat.Size, stat.Ctim)
	if !e.Info.Mode().IsRegular() {
		return stamp
	}
	file, err := e.In.Open(e.Name)
	if err != nil {
		return ""
	}
	defer file.Close() //nolint:errcheck // nothing is read
	var at syscall.Statfs_t
	if err := syscall.Fstatfs(int(file.Fd()), &at); err != nil || !slices.Contains(timed, int64(at.Type)) { //nolint:unconvert // another type on other systems
		return ""
	}
	return stamp
}
