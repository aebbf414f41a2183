package merging_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/run/merging"
)

// A merge brings no change of the work to a file that others moved to a protected place: people merge that.
func TestRenamedToAProtectedPlace(t *testing.T) {
	r := newRepository(t)
	call, commit := r.call, r.commit
	long := strings.Repeat("a step\n", 20)
	base := commit("build.yml", long)
	for _, branch := range []string{"work", "clashing", "elsewhere"} {
		call("branch", branch)
	}
	call("rm", "-q", "build.yml")
	commit(".github/build.yml", long)
	theirs := commit("other", "theirs\n")
	call("switch", "-q", "elsewhere")
	elsewhere := commit("more", "ours\n")
	call("switch", "-q", "work")
	work := commit("build.yml", long+"an evil step\n")
	call("switch", "-q", "clashing")
	commit("build.yml", long+"an evil step\n")
	clashing := commit("other", "ours\n")
	call("switch", "-q", "main")

	trusted := r.trusted()
	for _, of := range []journal.Line{journal.OfBase, journal.OfBranch} {
		for head, want := range map[string][]string{work: {".github/build.yml"}, clashing: {"other", ".github/build.yml"}, elsewhere: nil} {
			if head == clashing && of == journal.OfBranch {
				want = want[:1] // people see to all of it
			}
			run := journal.Run{Head: head, Base: base, BaseRef: "main", Branch: "work"}
			run.Policy = policy.Policy{Protect: policy.ProtectedFiles(), Limits: policy.Limits{Iterations: 9}}
			got, err := merging.Join(t.Context(), trusted, run, journal.Joined{Of: of, With: theirs}, base)
			if err != nil || !slices.Equal(got.Conflicts, want) || (got.To == head) != (want != nil) {
				t.Errorf("%s: %+v, %v, want conflicts in %q", of, got, err, want)
			}
		}
	}
}
