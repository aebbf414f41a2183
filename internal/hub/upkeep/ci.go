package upkeep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/trigger"
)

func names(checks []trigger.Check) string {
	var all []string
	for _, c := range checks {
		all = append(all, "`"+strings.ReplaceAll(c.Name, "`", "'")+"`")
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// Question returns what a person is asked where there were enough attempts.
func Question(red []trigger.Check) string {
	which := ""
	if len(red) > 0 { // a run that goes on did not look
		which = ": " + names(red)
	}
	const text = "**ralph asks:** CI is still red after the attempts that are allowed " +
		"(%d a head, %d a pull request)%s. What is missing?\n\n" +
		"**Next:** comment `/ralph -- <hint>`."
	return fmt.Sprintf(text, plan.MaxOfHead, plan.MaxOfPull, which)
}

// Relevant returns a job's log up to its last marked error. The rest is cleaning up.
func Relevant(log string) string {
	at := strings.LastIndex(log, "##[error]")
	if at < 0 {
		return log
	}
	end, _, _ := strings.Cut(log[at:], "\n")
	return log[:at] + end
}
