package job_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/run/job"
)

// Of many changed files, those that are left are found at once. It took half an hour.
func TestManyTouchedFiles(t *testing.T) {
	var names []string
	for i := range 200_000 {
		names = append(names, fmt.Sprintf("src/%06d.js", i))
	}
	others := slices.Clone(names[1:])
	slices.Reverse(others)
	if got := job.InBoth(slices.Clone(names), others); !slices.Equal(got, names[1:]) {
		t.Errorf("%d of %d names are in both lists", len(got), len(names))
	}
}
