package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/jsontree"
	"github.com/ralph-loop/ralph/internal/policy"
)

type reader struct {
	get   func(string) string
	known []string // names of the inputs that exist
	errs  []error
}

func (r *reader) addError(name string, err error) {
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("%s: %w", name, err))
	}
}

func (r *reader) orDefault(name, fallback string) string { return cmp.Or(r.get(name), fallback) }

func (r *reader) number(name string, fallback int) int {
	value := r.get(name)
	if value == "" {
		return fallback
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		r.addError(name, fmt.Errorf("%q is not a whole number, 0 or more", value))
	}
	return n
}

func (r *reader) money(name string, fallback float64) float64 {
	value := strings.TrimPrefix(r.get(name), "$")
	if value == "" {
		return fallback
	}
	usd, err := strconv.ParseFloat(value, 64)
	if err != nil || !(usd >= 0 && usd < 1e9) {
		r.addError(name, fmt.Errorf("%q is not an amount of dollars", value))
	}
	return usd
}

func (r *reader) duration(name string, fallback policy.Duration) policy.Duration {
	value := r.get(name)
	if value == "" {
		return fallback
	}
	d, err := policy.ParseDuration(value)
	r.addError(name, err)
	return d
}

// choice returns an input that must be one of words. The first is the default.
func (r *reader) choice(name string, words ...string) string {
	value := r.orDefault(name, words[0])
	if slices.Contains(words, value) {
		return value
	}
	r.addError(name, fmt.Errorf("%q is not one of %s", value, strings.Join(words, ", ")))
	return words[0]
}

func (r *reader) isOn(name string) bool { return r.choice(name, "false", "true") == "true" }

func (r *reader) lines(name string) []string { return nonEmptyLines(r.get(name)) }

func (r *reader) list(name string) []string {
	return nonEmptyLines(strings.ReplaceAll(r.get(name), ",", "\n"))
}

func nonEmptyLines(text string) []string {
	var all []string
	for piece := range strings.Lines(text) {
		if piece = strings.TrimSpace(piece); piece != "" {
			all = append(all, piece)
		}
	}
	return all
}

// runnerInputs are the inputs that the runner or host/action.yml reads.
var runnerInputs = []string{"args", "entrypoint", "ralph-from"}

// goneInputs say what is done instead.
var goneInputs = map[string]string{
	"report":       "the report is always written",
	"state-labels": "an issue is always labelled with the state of its run",
}

// checkUnknown reports unknown inputs: a limit with a wrong name would limit nothing. It must be called
// after all inputs were read.
func (r *reader) checkUnknown(given []string) {
	for _, name := range given {
		name = strings.ToLower(name)
		if slices.Contains(r.known, name) || slices.Contains(runnerInputs, name) {
			continue
		}
		err := errors.New("unknown input")
		if why := goneInputs[name]; why != "" {
			err = errors.New("there is no such input any more: " + why)
		}
		if near, found := jsontree.Nearest(strings.ReplaceAll(name, "_", "-"), r.known); found {
			err = fmt.Errorf("unknown input, use `%s`", near)
		}
		r.addError(fmt.Sprintf("%.80s", name), err)
	}
}
