package hook

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/templates"
)

// usualWindow and usualDivisor are what is assumed of a model and its text.
const (
	usualWindow  = 200_000
	usualDivisor = 4
)

// levels are the parts of the context, in percent, at which the agent is told.
var levels = []struct {
	percent  int
	severity string
}{{50, "NOTICE"}, {60, "NOTICE"}, {70, "WARNING"}, {80, "WARNING"}, {90, "CRITICAL"}}

// watch tells the agent how full its context is, once at each level.
func (d Door) watch(in input) answer {
	used, exact := d.used(in.Transcript)
	window := d.number("CLAUDE_CONTEXT_WINDOW", usualWindow)
	percent := int(float64(used) / window * 100)
	if percent < levels[0].percent {
		return answer{}
	}
	severity := d.crossed(in.Session, percent)
	if severity == "" {
		return answer{}
	}
	how := ""
	if !exact {
		how = ", estimated by the length of the transcript"
	}
	return advise(say("session/context.md", "{severity}", severity, "{percent}", strconv.Itoa(percent),
		"{used}", strconv.FormatInt(used, 10), "{window}", strconv.FormatFloat(window, 'f', -1, 64),
		"{how}", how, "{advice}", say("session/"+strings.ToLower(severity)+".md")))
}

// used is how many tokens the context holds: as the model itself counted them
// last, else by the size of the transcript.
func (d Door) used(transcript string) (tokens int64, exact bool) {
	found, err := newest(transcript)
	switch {
	case err != nil:
		return 0, false
	case found.tokens > 0:
		return found.tokens, true
	}
	return int64(float64(found.size) / d.number("RALPH_CONTEXT_DIVISOR", usualDivisor)), false
}

// crossed is the severity of the highest level reached, if it was not told
// before. Those below it are told with it.
func (d Door) crossed(session string, percent int) string {
	m, err := openMarks(d.State, session)
	if err != nil {
		return "" // it would be told again and again
	}
	defer m.close()
	severity := ""
	for _, level := range levels {
		if percent < level.percent {
			break
		}
		first, err := m.set(fmt.Sprintf("context-%d", level.percent))
		if severity = ""; first && err == nil {
			severity = level.severity
		}
	}
	return severity
}

// number is a variable's value, where it is a number above zero.
func (d Door) number(name string, otherwise float64) float64 {
	if value, err := strconv.ParseFloat(d.Env(name), 64); err == nil && value > 0 && value < 1e12 {
		return value
	}
	return otherwise
}

// say fills a template's places. The templates are part of the program: one
// that is missing is for the tests to find.
func say(name string, pairs ...string) string {
	text, err := templates.Files.ReadFile(name)
	if err != nil {
		return name
	}
	return strings.TrimSpace(strings.NewReplacer(pairs...).Replace(string(text)))
}
