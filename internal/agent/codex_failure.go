package agent

import (
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/stream"
)

// codexFailure is a turn that failed. Codex has only sentences for it, of its
// own making: the agent has no say in them.
func codexFailure(reason, message string) stream.Result {
	return stream.Result{
		Failed: true, Reason: reason, Text: message,
		Status: codexStatus(message), Busy: codexBusy(message), Denied: codexDenied(message), Until: codexUntil(message), After: codexAfter(message),
	}
}

// statusSaid are the two sentences in which Codex gives the HTTP status that
// ended its tries. Others may hold numbers, too, of which nothing is certain.
var statusSaid = pattern.Of(`^(?:unexpected status|exceeded retry limit, last status:) (\d{3}) `)

func codexStatus(message string) int {
	m := statusSaid.FindStringSubmatch(message)
	if m == nil {
		return 0
	}
	status, _ := strconv.Atoi(m[1])
	return status
}

// codexBusy tells of the sentences that name no status: the one for any error
// of the server's own, and the one for a subscription that is used up.
func codexBusy(message string) bool {
	return strings.HasPrefix(message, "We’re currently experiencing high demand") || usedUp.MatchString(message)
}

// codexDenied tells of the sentences that name no status, and that a person has
// to do something about.
func codexDenied(message string) stream.Denial {
	switch {
	case strings.HasPrefix(message, "Quota exceeded."), strings.Contains(message, "out of credits"), strings.HasPrefix(message, "To use Codex with your ChatGPT plan"):
		return stream.NoCredit
	case strings.HasPrefix(message, "Your access token could not be refreshed"):
		return stream.NoLogin
	}
	return ""
}

// usedUp begins the sentence of a subscription that is. What a person could buy
// comes next, and at its end when it is over: "try again at 2:35 PM", "try again
// at Nov 23rd, 2026 2:35 PM", and of older versions "try again in 1 day 3 hours".
var (
	usedUp  = pattern.Of(`^You['’]ve hit your usage limit`)
	againIn = pattern.Of(`(?i) try again in (?:(\d{1,3}) days? ?)?(?:(\d{1,3}) hours? ?)?(?:(\d{1,3}) minutes?)?`)
	againAt = pattern.Of(`(?i) try again at (?:([A-Z][a-z]{2} \d{1,2})[a-z]{2}(, \d{4}) )?(\d{1,2}:\d{2} [AP]M)\.$`)
)

func codexAfter(message string) time.Duration {
	const day = 24 * time.Hour
	var after time.Duration
	if m := againIn.FindStringSubmatch(message); m != nil && usedUp.MatchString(message) {
		for i, unit := range []time.Duration{day, time.Hour, time.Minute} {
			n, _ := strconv.Atoi(m[i+1])
			after += time.Duration(n) * unit
		}
	}
	return after
}

// codexUntil is a time by the machine's own clock, for which Codex names no
// zone. Of the same day it says only the hour and the minute: then the year is
// nought, and upcoming has to find the day. It cuts off seconds, so it is a
// minute more.
func codexUntil(message string) time.Time {
	m := againAt.FindStringSubmatch(message)
	if m == nil || !usedUp.MatchString(message) {
		return time.Time{}
	}
	layout, said := "3:04 PM", m[3]
	if m[1] != "" {
		layout, said = "Jan 2, 2006 3:04 PM", m[1]+m[2]+" "+m[3]
	}
	until, err := time.ParseInLocation(layout, said, time.Local)
	if err != nil {
		return time.Time{}
	}
	return until.Add(time.Minute)
}

// upcoming is the next time that a clock shows what until does, where that
// names no year.
func upcoming(until time.Time, clock func() time.Time) time.Time {
	switch {
	case until.Year() > 0:
		return until
	case clock == nil:
		return time.Time{}
	}
	now := clock().In(until.Location())
	until = time.Date(now.Year(), now.Month(), now.Day(), until.Hour(), until.Minute(), 0, 0, now.Location())
	if until.Before(now) {
		until = until.AddDate(0, 0, 1)
	}
	return until
}
