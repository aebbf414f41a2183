// Package policy says what counts as done and when to give up. A preset is a
// named policy; it decides nothing itself, verdict does.
package policy

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Policy is in force for a whole run; the journal's first event carries it, so
// that resuming and showing a run need no settings.
type Policy struct {
	Preset   Preset   `json:"preset"`
	Agent    string   `json:"agent"`
	Model    string   `json:"model,omitempty"`
	Promise  string   `json:"promise,omitempty"` // the completion promise that is welcome
	Checks   []Check  `json:"checks,omitempty"`
	Baseline Baseline `json:"baseline"`
	Limits   Limits   `json:"limits"`
	Protect  []string `json:"protect,omitempty"` // globs of files an agent's work may not change
	Publish  bool     `json:"publish"`           // work goes to a branch and a pull request
	NoPull   bool     `json:"no_pull,omitempty"` // work goes to a branch alone
	Draft    bool     `json:"draft,omitempty"`   // the pull request stays a draft even when proven
}

// Preset names a policy.
type Preset string

// Stories is done when every story of the plan passes.
const Stories Preset = "stories"

// Baseline is what a check that was red before the work began is worth.
type Baseline string

// BaselineNew lets only new failures block; BaselineStrict lets all block.
const (
	BaselineNew    Baseline = "new"
	BaselineStrict Baseline = "strict"
)

// Check is a command whose exit code judges the work.
type Check struct {
	Name    string   `json:"name"`
	Command string   `json:"command"`
	Timeout Duration `json:"timeout,omitempty"`
}

// Limits end a run that does not complete; 0 turns one off.
type Limits struct {
	Iterations int      `json:"iterations,omitempty"`
	CostUSD    float64  `json:"cost_usd,omitempty"`
	Run        Duration `json:"run,omitempty"`
	Iteration  Duration `json:"iteration,omitempty"`
	Stall      int      `json:"stall,omitempty"`    // fruitless iterations that look alike
	Failures   int      `json:"failures,omitempty"` // agents in a row that did not work at all
}

// presets is the table of presets: what a run of that name does unless told
// otherwise.
var presets = map[Preset]Policy{
	Stories: {
		Preset:   Stories,
		Promise:  "COMPLETE",
		Baseline: BaselineStrict,
		Limits: Limits{
			Iterations: 10,
			CostUSD:    5,
			Run:        Duration(2 * time.Hour),
			Iteration:  Duration(time.Hour),
			Stall:      3,
			Failures:   3,
		},
	},
}

// DefaultCheckTimeout bounds a check that names no time of its own.
const DefaultCheckTimeout = Duration(10 * time.Minute)

// Of is the policy named by preset, with nothing shared with the table.
func Of(preset Preset) Policy { return presets[preset] }

// Duration is a time.Duration that people write as "90", "90s" or "1h30m".
type Duration time.Duration

// ParseDuration reads a bare number as seconds, else a Go duration.
func ParseDuration(s string) (Duration, error) {
	seconds, err := strconv.ParseFloat(s, 64)
	if err == nil {
		return Duration(seconds * float64(time.Second)), nilOrNegative(seconds < 0, s)
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q is no duration: write seconds (90) or units (1h30m)", s)
	}
	return Duration(d), nilOrNegative(d < 0, s)
}

func nilOrNegative(negative bool, s string) error {
	if negative {
		return fmt.Errorf("%q is below zero", s)
	}
	return nil
}

// Std is d for the standard library.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String is d without trailing zero units: "2h", not "2h0m0s".
func (d Duration) String() string { return Short(time.Duration(d)) }

// MarshalText writes d as people do.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what MarshalText and people write.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := ParseDuration(string(text))
	*d = parsed
	return err
}

// Short is d as a person would say it: "1.2s", "6m7s", "2h".
func Short(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	}
	d = d.Round(time.Second)
	hours, minutes, seconds := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	var text strings.Builder
	for _, part := range []struct {
		n    int
		unit string
	}{{hours, "h"}, {minutes, "m"}, {seconds, "s"}} {
		if part.n > 0 {
			text.WriteString(strconv.Itoa(part.n) + part.unit)
		}
	}
	return text.String()
}
