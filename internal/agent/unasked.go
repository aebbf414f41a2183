package agent

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/fault"
)

// Trusts is a fault where a tree, or a folder above one, holds what the program
// would run unasked: that is a repository's word, and not the user's.
func (a Adapter) Trusts(dir string) error {
	for ; ; dir = filepath.Dir(dir) {
		for _, name := range a.Unasked {
			if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
				return fault.Usage(
					fmt.Sprintf("%s would run what lies in %s, and nothing keeps it from that", a.Name, filepath.Join(dir, name)),
					"take it away, choose another agent, or confine it: --sandbox", nil)
			}
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}
