// Package price turns tokens into dollars, as of a date, or says that it does
// not know. It asks nobody: a model that is not listed has no price, and a
// price that has changed since is given by whoever pays it.
package price

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// Rate is what a model costs, in dollars for a million tokens.
type Rate struct {
	Input      float64 // neither read from the cache nor written to it
	Output     float64
	CacheRead  float64
	CacheWrite float64
}

// hour is how many times the price of input it costs to write to a cache that
// lasts an hour. One maker has such a cache, and bills every model of its so.
const hour = 2

// Tokens are counted as they are billed: none of them in two of the counts, but
// for CacheHour, which is among those of CacheWrite.
type Tokens struct{ Input, Output, CacheRead, CacheWrite, CacheHour int64 }

// Of is the price of so many tokens of a model, by over or else by the list.
// No tokens at all is a count that nobody made, and has no price.
func Of(model string, t Tokens, over map[string]Rate) (usd float64, known bool) {
	rate, known := find(model, over)
	if !known || t == (Tokens{}) {
		return 0, false
	}
	const million = 1e6
	long := min(t.CacheHour, t.CacheWrite)
	return (float64(t.Input)*rate.Input + float64(t.Output)*rate.Output + float64(t.CacheRead)*rate.CacheRead +
		float64(t.CacheWrite-long)*rate.CacheWrite + float64(long)*rate.Input*hour) / million, true
}

// Most is the price of so many tokens of a model that may have none: then it is
// taken for the dearest of its maker's on the list. known: there is one.
func Most(model string, t Tokens, over map[string]Rate) (usd float64, known bool) {
	if usd, known = Of(model, t, over); known {
		return usd, true
	}
	for name := range listed {
		maker, _, _ := strings.Cut(name, "-")
		if strings.Contains(model, maker+"-") { // clouds and gateways have names of their own before it
			each, is := Of(name, t, nil)
			usd, known = max(usd, each), known || is
		}
	}
	return usd, known
}

// dated is the end of a snapshot's name; it costs what its model does.
var dated = pattern.Of(`-20\d\d-?\d\d-?\d\d$`)

// find takes exact names only: "gpt-6-sol-fast" is another model at another
// price, and no prefix tells by how much.
func find(model string, over map[string]Rate) (Rate, bool) {
	for _, name := range []string{model, dated.ReplaceAllString(model, "")} {
		for _, rates := range []map[string]Rate{over, listed} {
			if rate, known := rates[name]; known {
				return rate, true
			}
		}
	}
	return Rate{}, false
}
