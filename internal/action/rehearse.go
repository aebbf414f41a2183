package action

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/policy"
)

// rehearse says what would be done, in the log alone: nothing is written on
// GitHub, and no agent is asked.
func (v *visit) rehearse() (Result, error) {
	done := Result{Skipped: "a dry run"}
	if !v.command.Verb.Agent() {
		v.say(fmt.Sprintf("dry run: %s would be answered", v.command.Verb))
		return done, nil
	}
	asked, err := v.asked()
	if why, is := errors.AsType[declined](err); is {
		v.say("dry run: it would be declined: " + why.said)
		return done, nil
	}
	if err != nil {
		return Result{}, err
	}
	v.say(v.rehearsed(asked))
	return done, nil
}

// rehearsed is what would be done in words. What was kept of an earlier run is not
// looked at.
func (v *visit) rehearsed(asked job.Asked) string {
	p := asked.Policy
	if v.command.Verb.Continues() {
		return fmt.Sprintf("dry run: %s would go on with the newest run of %s, if there is one, by its own plan\nby %s, for at most %s\n",
			v.command.Verb, asked.Task, p.Agent, limits(p.Limits))
	}
	var text strings.Builder
	fmt.Fprintf(&text, "dry run: %s would be worked on, on branch %s for %s\n", asked.Task, asked.Branch, asked.BaseRef)
	for _, story := range asked.Plan.UserStories {
		fmt.Fprintf(&text, "  %s %s\n", story.ID, story.Title)
	}
	if asked.Vague {
		text.WriteString("  an agent would be asked for better stories first\n")
	}
	fmt.Fprintf(&text, "by %s, for at most %s\n", p.Agent, limits(p.Limits))
	if len(p.Checks) == 0 {
		text.WriteString("checked by what the base's own files suggest\n")
	}
	for _, check := range p.Checks {
		fmt.Fprintf(&text, "checked by %s\n", check.Command)
	}
	if p.Approval {
		text.WriteString("once somebody has approved the plan\n")
	}
	return text.String()
}

func limits(l policy.Limits) string {
	var most []string
	if l.Iterations > 0 {
		most = append(most, fmt.Sprintf("%d iterations", l.Iterations))
	}
	if l.CostUSD > 0 {
		most = append(most, fmt.Sprintf("$%.2f", l.CostUSD))
	}
	if l.Run > 0 {
		most = append(most, policy.Short(time.Duration(l.Run)))
	}
	if len(most) == 0 {
		return "as long as it takes"
	}
	return strings.Join(most, ", ")
}
