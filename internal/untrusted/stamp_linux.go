package untrusted

import (
	"fmt"
	"syscall"
)

// Stamp tells whether a file may have changed, at the cost of no content, of which there can be
// any amount: an agent cannot set the time of a change. It is empty where that is not known.
func (e Entry) Stamp() string {
	stat, is := e.Info.Sys().(*syscall.Stat_t)
	if !is {
		return ""
	}
	return fmt.Sprint(e.Info.Mode(), stat.Ino, stat.Size, stat.Ctim)
}
