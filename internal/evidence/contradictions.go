package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/policy"
)

func (e Evidence) endContradictions() []string {
	status := policy.StatusRunning
	if e.StopReason != "" {
		status = e.StopReason.Status()
	}
	switch {
	case e.Status != status:
		return []string{fmt.Sprintf("the file says that the run is %s; by its stop reason (%s) it is %s", e.Status, cmp.Or(string(e.StopReason), "the file does not say so"), status)}
	case e.Status != policy.StatusCompleted:
		return e.falseGiveUp()
	case !e.Proof.Passed:
		return []string{"the file says that the run is completed, but the proof of its newest commit does not pass"}
	}
	var lines []string
	for _, story := range e.Stories {
		if !story.Passes {
			lines = append(lines, "the file says that the run is completed, but "+story.ID+" is open")
		}
	}
	return lines
}

// falseGiveUp reports a run that stopped early though every story is proven.
func (e Evidence) falseGiveUp() []string {
	left := len(e.Stories) == 0 || !e.Proof.Passed || slices.ContainsFunc(e.Stories, func(s Story) bool { return !s.Proven })
	if e.Status != policy.StatusStopped || left {
		return nil
	}
	return []string{fmt.Sprintf("the file says that the run stopped (%s), but every story is proven", e.StopReason)}
}

// missingParts lists stories and iterations that the file mentions and does not have.
func (e Evidence) missingParts() []string {
	var lines []string
	if number := e.missingIteration(); number > 0 {
		lines = append(lines, fmt.Sprintf("iteration %d is not in it", number))
	}
	for _, id := range e.mentionedStories() {
		if !slices.ContainsFunc(e.Stories, func(s Story) bool { return s.ID == id }) {
			lines = append(lines, "it names "+id+", which is not one of its stories")
		}
	}
	return lines
}

// missingIteration returns the first number of an iteration that is not in the file; 0: none.
func (e Evidence) missingIteration() int {
	there := map[int]bool{}
	newest := 0
	for _, it := range e.Iterations {
		there[it.Number], newest = true, max(newest, it.Number)
	}
	for _, story := range e.Stories {
		for _, number := range story.Iterations {
			if !there[number] {
				return number
			}
		}
	}
	for number := 1; number < newest; number++ {
		if !there[number] {
			return number
		}
	}
	return 0
}

// mentionedStories returns the stories that passed, and those in NotVerified.
func (e Evidence) mentionedStories() []string {
	var ids []string
	for _, it := range e.Iterations {
		ids = append(ids, it.Passed...)
	}
	for _, words := range e.NotVerified {
		if id, rest, is := strings.Cut(words, " is "); is && !strings.Contains(id, " ") && (rest == "open" || strings.Contains(rest, ": ")) && strings.Contains(id, "-") {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
