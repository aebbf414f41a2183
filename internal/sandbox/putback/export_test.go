//go:build linux

package putback

import "syscall"

// WithFields is what a file becomes of which only those fields may change.
var WithFields = withFields

// WalkFew has few entries be looked at, until the end of a test.
func WalkFew(cleanup func(func()), few int) {
	old := maxWalked
	maxWalked = few
	cleanup(func() { maxWalked = old })
}

// Room is how many bytes are taken to put things back.
func (all Kept) Room() (size int64) {
	for _, file := range all.reserved {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			size += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
	}
	return size
}
