package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/fault"
)

// Service is a server that the checks use.
type Service struct {
	Name    string `json:"name"`
	Answers bool   `json:"answers"`
	Why     string `json:"why,omitempty"` // it does not
	Remedy  string `json:"remedy,omitempty"`
}

// LookAtServices connects to each service once, as the beginning of a run does.
func LookAtServices(ctx context.Context, services []egress.Name) (all []Service) {
	for _, name := range services {
		s := Service{Name: name.String()}
		if _, err := egress.FindServices(ctx, []egress.Name{name}); err != nil {
			s.Why, s.Remedy = err.Error(), fault.Hint(err)
		}
		s.Answers = s.Why == ""
		all = append(all, s)
	}
	return all
}

// ServicesText is what was found, for people.
func ServicesText(all []Service) string {
	var b strings.Builder
	b.WriteString("services\n")
	for _, s := range all {
		if s.Answers {
			fmt.Fprintf(&b, "  %s %s: reachable\n", mark(true), s.Name)
			continue
		}
		fmt.Fprintf(&b, "  %s %s\n       hint: %s\n", mark(false), s.Why, s.Remedy)
	}
	return b.String()
}
