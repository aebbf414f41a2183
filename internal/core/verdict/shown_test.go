package verdict_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

// A test that an agent names for a criterion counts if it fails without the change.
// The end of its name is enough.
func TestCriterionTests(t *testing.T) {
	proof := journal.Proof{Tests: []string{"shop/cart.TestAdds", "tests/test_cart.py::Cart::test_removes", "whole suite"}}
	for name, test := range map[string]struct{ by, want []string }{
		"nothing is named":       {nil, []string{"", "", ""}},
		"ends of names":          {[]string{"TestAdds", "test_removes", "whole suite"}, []string{"shop/cart.TestAdds", "tests/test_cart.py::Cart::test_removes", "whole suite"}},
		"a part of a word":       {[]string{"Adds", "removes", "est suite"}, []string{"", "", ""}},
		"not failing without it": {[]string{"TestPays", "", "suite"}, []string{"", "", "whole suite"}},
		"more than there are":    {[]string{"", "", "", "TestAdds"}, []string{"", "", ""}},
	} {
		story := plan.Story{ID: "US-001", AcceptanceCriteria: []string{"a", "b", "c"}, TestedBy: test.by}
		if diff := cmp.Diff(test.want, verdict.CriterionTests(story, proof)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
