package trigger

import (
	"cmp"
	"fmt"

	"github.com/ralph-loop/ralph/internal/policy"
)

// Tighten is p with what the flags ask for, or why that cannot be: a comment
// may ask for less than the repository allows, and never for more. offered
// tells whether the repository lets people choose a model beside its own.
func (f Flags) Tighten(p policy.Policy, offered func(model string) bool) (policy.Policy, error) {
	l := &p.Limits
	for _, err := range []error{
		lower("--max-iterations", &l.Iterations, f.Iterations),
		lower("--max-cost", &l.CostUSD, f.CostUSD),
		lower("--max-time", &l.Run, f.Run),
		lower("--iteration-timeout", &l.Iteration, f.Iteration),
		lower("--stall-after", &l.Stall, f.Stall),
	} {
		if err != nil {
			return policy.Policy{}, err
		}
	}
	if f.Model != "" && f.Model != p.Model {
		if !offered(f.Model) {
			return policy.Policy{}, Loose{"--model " + f.Model, "it is neither the workflow's model nor one of `allow-models`"}
		}
		p.Model = f.Model
	}
	p.Draft = p.Draft || f.Draft
	return p, nil
}

// Loose is a flag that asks for more than the repository allows.
type Loose struct{ Flag, Why string }

// Error says both.
func (l Loose) Error() string { return l.Flag + ": " + l.Why }

// lower brings limit down to asked. A limit of 0 is none, so anything is less.
func lower[N cmp.Ordered](flag string, limit *N, asked N) error {
	var none N
	switch {
	case asked == none:
		return nil
	case *limit != none && asked > *limit:
		return Loose{fmt.Sprintf("%s %v", flag, asked), fmt.Sprintf("the limit here is %v, and a comment can only lower it", *limit)}
	}
	*limit = asked
	return nil
}
