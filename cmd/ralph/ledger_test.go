package main_test

import (
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/quota"
)

// A run that may take longer than a job on GitHub's own machines counts as at
// work for as long as that.
func TestALongRunIsAtWork(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.env = append(s.env, "SET_github.maxRuns=1", "SET_limits.maxTime=12h")
	s.killed(death{Event: "run_began", Nth: 1})
	book, err := quota.Read([]byte(s.must("show", quota.Ref+":"+quota.File)))
	if err != nil || len(book.AtWork(time.Now().Add(11*time.Hour))) != 1 {
		t.Errorf("in 11 hours it is not at work: %+v, %v", book, err)
	}
}
