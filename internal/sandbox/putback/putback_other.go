//go:build !linux

package putback

// Named is for Linux, as Recover is.
func (f Files) Named([]byte) (readOnly []string, guards []Guard) { return nil, nil }

// Folders is for Linux, as Recover is.
func Folders([]byte) (dirs []string) { return nil }

// Recover is for Linux: nothing is marked elsewhere.
func Recover([]byte, bool) (moved, restored []string, err error) { return nil, nil, nil }
