package checkout_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
)

// Checks come from the commit, from its top or from the run's folder. Links count as missing. A project can have any
// number of folders: git is not started for each of them.
func TestSurveyed(t *testing.T) {
	trusted, commits := repository(t, `for n in $(seq 150); do mkdir -p svc/s$n && echo "module s" >svc/s$n/go.mod; done; ln -s svc/s1 linked; ln -s svc/s1/go.mod go.mod; commit`)
	counted, calls := counting(t, trusted)
	for folder, want := range map[string]string{
		"":        "cd svc/s1 && go vet ./...",
		"svc":     "cd s1 && go vet ./...",
		"svc/s7/": "go vet ./...",
		"none":    "",
	} {
		found, err := checkout.Surveyed(t.Context(), counted, git.At{Commit: commits[0], Path: folder})
		got := ""
		if len(found.Checks) > 0 {
			got = found.Checks[0].Command
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("in %q (-want +got, %v):\n%s", folder, err, diff)
		}
	}
	if *calls > 20 {
		t.Errorf("git was started %d times", *calls)
	}
	if found, err := checkout.Surveyed(t.Context(), trusted, git.At{Commit: strings.Repeat("1", 40)}); err == nil {
		t.Errorf("%v of a commit that does not exist", found)
	}
}
