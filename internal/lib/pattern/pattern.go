// Package pattern holds regular expressions that are compiled on first use. The program has hundreds, needs a few, and
// starts for every tool call of an agent. A test in internal/ compiles all of them, so a malformed one cannot be
// released.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression. Its methods are those of regexp.Regexp.
type Pattern struct{ read func() *regexp.Regexp }

// Of returns the pattern that text says, which must be a literal.
func Of(text string) *Pattern {
	return &Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// MatchString is the expression's.
func (p *Pattern) MatchString(s string) bool { return p.read().MatchString(s) }

// FindString returns the expression's.
func (p *Pattern) FindString(s string) string { return p.read().FindString(s) }

// FindStringIndex returns the expression's.
func (p *Pattern) FindStringIndex(s string) []int { return p.read().FindStringIndex(s) }

// FindStringSubmatch returns the expression's.
func (p *Pattern) FindStringSubmatch(s string) []string { return p.read().FindStringSubmatch(s) }

// FindStringSubmatchIndex returns the expression's.
func (p *Pattern) FindStringSubmatchIndex(s string) []int {
	return p.read().FindStringSubmatchIndex(s)
}

// FindAllString returns the expression's.
func (p *Pattern) FindAllString(s string, n int) []string { return p.read().FindAllString(s, n) }

// FindAllStringSubmatch returns the expression's.
func (p *Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.read().FindAllStringSubmatch(s, n)
}

// ReplaceAllString returns the expression's.
func (p *Pattern) ReplaceAllString(s, by string) string { return p.read().ReplaceAllString(s, by) }

// ReplaceAllStringFunc returns the expression's.
func (p *Pattern) ReplaceAllStringFunc(s string, by func(string) string) string {
	return p.read().ReplaceAllStringFunc(s, by)
}
