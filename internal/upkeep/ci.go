package upkeep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/trigger"
)

// Class is why a check is red.
type Class string

// The classes, in the order in which a check is compared.
const (
	Approval       Class = "approval"       // somebody has to let it run
	Infrastructure Class = "infrastructure" // a runner or the network failed, or it was cancelled
	Base           Class = "base"           // it is red on the base branch, too
	Untried        Class = "untried"        // it may be flaky: it was not run again yet
	Change         Class = "change"         // the change broke it
)

// Of returns the class of a check. base are the names of what is red on the base branch.
func Of(c trigger.Check, base []string) Class {
	switch {
	case c.Conclusion == "action_required":
		return Approval
	case slices.Contains([]string{"cancelled", "startup_failure", "stale"}, c.Conclusion) || lost.MatchString(c.Summary):
		return Infrastructure
	case c.Attempt <= 1 && outages.MatchString(c.Summary): // after a re-run it is what the tests print
		return Infrastructure
	case slices.Contains(base, c.Name):
		return Base
	case c.Run != 0 && c.Attempt <= 1:
		return Untried
	}
	return Change
}

// lost is what runners say of themselves.
var lost = pattern.Of(`(?i)the runner has received a shutdown signal|lost communication with the server|hosted runner encountered an error|the self-hosted runner`)

// outages also match what tests print: that costs one re-run.
var outages = pattern.Of(`(?i)no space left on device|api rate limit exceeded|429 too many requests|toomanyrequests|` +
	`could not resolve host|temporary failure in name resolution|tls handshake timeout|eai_again|econnreset|etimedout|` +
	`50[234] (?:bad gateway|service unavailable|gateway time-?out)`)

// Move is what follows from all that is red: work, or re-runs, or only words.
type Move struct {
	Work  []trigger.Check // that the change broke
	Rerun []int64         // workflow runs
	Line  string          // for people; empty where there is work
}

// Decide takes what is red on the head of a pull request, and on its base.
func Decide(red []trigger.Check, base []string) Move {
	of := map[Class][]trigger.Check{}
	for _, c := range red {
		class := Of(c, base)
		of[class] = append(of[class], c)
	}
	move := Move{Work: of[Change]}
	if len(move.Work) > 0 {
		return move
	}
	var lines []string
	for _, class := range []Class{Approval, Infrastructure, Base, Untried} {
		if len(of[class]) == 0 {
			continue
		}
		again := rerun(class, of[class])
		move.Rerun = append(move.Rerun, again...)
		lines = append(lines, names(of[class])+" "+words(class, len(again) > 0))
	}
	slices.Sort(move.Rerun)
	move.Rerun, move.Line = slices.Compact(move.Rerun), strings.Join(lines, " ")
	return move
}

// rerun returns each workflow run once.
func rerun(class Class, checks []trigger.Check) (runs []int64) {
	for _, c := range checks {
		if c.Run != 0 && c.Attempt <= 1 && (class == Infrastructure || class == Untried) {
			runs = append(runs, c.Run)
		}
	}
	return runs
}

func words(class Class, again bool) string {
	switch {
	case class == Approval:
		return "waits for approval on the pull request's page."
	case class == Base:
		return "is red on the base branch, too: ralph leaves it alone."
	case class == Infrastructure && again:
		return "failed because of the runner or the network: ralph asked for one re-run."
	case class == Infrastructure:
		return "failed because of the runner or the network: run it again once that works."
	}
	return "failed: ralph asked for one re-run, which shows whether it is flaky."
}

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
	return fmt.Sprintf("**ralph asks:** CI is still red after the attempts that are allowed (%d a head, %d a pull request)%s. "+
		"What is missing?\n\n**Next:** comment `/ralph -- <hint>`.", plan.MaxOfHead, plan.MaxOfPull, which)
}

// noteBegins begins the paragraph of the progress comment that is about CI.
const noteBegins = "**CI:** "

// Note replaces the line about CI above a progress comment. The first line holds its marks.
func Note(comment, line string) string {
	_, rest, _ := strings.Cut(strings.ReplaceAll(comment, "\r\n", "\n"), "\n")
	rest = strings.TrimSpace(rest)
	if strings.HasPrefix(rest, noteBegins) {
		_, rest, _ = strings.Cut(rest, "\n\n")
	}
	return strings.TrimSpace(noteBegins + line + "\n\n" + rest)
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
