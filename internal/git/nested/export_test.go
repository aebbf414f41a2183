package nested

import (
	"testing"
	"time"
)

// FollowNoLinks leaves no time to follow links.
func FollowNoLinks(t *testing.T) {
	t.Helper()
	was := mostForLinks
	t.Cleanup(func() { mostForLinks = was })
	mostForLinks = -time.Second
}
