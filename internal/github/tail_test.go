package github_test

import (
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ralph-loop/ralph/internal/github"
)

// Of a log that is too long the end is kept, which tells why the job failed.
func TestTheEndOfALongLog(t *testing.T) {
	const end = "##[error] why"
	for _, length := range []int{0, 5, 99, 100, 101, 250, 1000} {
		log := strings.Repeat("x", length) + end
		got, err := github.Tail(iotest.OneByteReader(strings.NewReader(log)), 100)
		if err != nil || !strings.HasSuffix(log, string(got)) || len(got) < min(len(log), 100) || len(got) > 200 {
			t.Errorf("of %d bytes %d are kept (%v), want the last 100 to 200", len(log), len(got), err)
		}
	}
}
