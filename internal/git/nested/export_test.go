package nested

import (
	"testing"
	"time"
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

func leaveNone(t *testing.T, most *time.Duration) {
	t.Helper()
	was := *most
	t.Cleanup(func() { *most = was })
	*most = -time.Second
}
