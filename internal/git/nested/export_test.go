package nested

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// FollowNoLinks leaves no time to follow links.
func FollowNoLinks(t *testing.T) {
	t.Helper()
	leaveNone(t, &mostForLinks)
}

// LookUpNoNames leaves no time to look up what files name.
func LookUpNoNames(t *testing.T) {
	t.Helper()
	leaveNone(t, &mostForNames)
}

func leaveNone(t *testing.T, most *untrusted.Patience) {
	t.Helper()
	was := *most
	t.Cleanup(func() { *most = was })
	*most = 0
}
