// Package price turns tokens into dollars at a date, or says that the price is unknown. It uses no network: a model
// that is not listed has no price unless the settings give one.
package price

import "github.com/ralph-loop/ralph/internal/lib/pattern"

// Rate is what a model costs, in dollars for a million tokens.
type Rate struct {
	Input      float64 // neither read from the cache nor written to it
	Output     float64
	CacheRead  float64
	CacheWrite float64
}

// hourFactor is how many times the price of input it costs to write to a cache that
// lasts an hour. One provider has such a cache, and bills all its models so.
const hourFactor = 2

// Tokens are counted once each, except that CacheWrite includes CacheHour.
type Tokens struct{ Input, Output, CacheRead, CacheWrite, CacheHour int64 }

// Of returns the price by over, or else by the list. No tokens at all have no price.
func Of(model string, t Tokens, over map[string]Rate) (usd float64, known bool) {
	rate, known := find(model, over)
	if !known || t == (Tokens{}) {
		return 0, false
	}
	return rate.cost(t), true
}

func (r Rate) cost(t Tokens) float64 {
	const million = 1e6
	hourWrites := min(t.CacheHour, t.CacheWrite)
	usd := float64(t.Input)*r.Input + float64(t.Output)*r.Output + float64(t.CacheRead)*r.CacheRead +
		float64(t.CacheWrite-hourWrites)*r.CacheWrite + float64(hourWrites)*r.Input*hourFactor
	return usd / million
}

// providers match the names of the listed models by provider, as the provider, a cloud or a gateway writes them.
var providers = []*pattern.Pattern{
	pattern.Of(`(?i)claude`),
	pattern.Of(`(?i)gpt|codex|computer-use|(^|[^a-z0-9])o[1-9]($|[^a-z0-9])`),
	pattern.Of(`(?i)gemini`),
}

// cloud is how clouds write a model's name. They take a tenth more for a region.
var cloud = pattern.Of(`^(?:.*/)?(?:[a-z-]+\.)*(.+?)(?:-v\d+)?(?:[:@]\d+)?$`)

const regional = 1.1

// Most returns an upper bound of what so many tokens cost. A model without a price
// costs as much as the most expensive one of the providers in its name. Others have no
// bound: providers also sell songs and films, by the piece. known: there is a bound.
func Most(model string, t Tokens, over map[string]Rate) (usd float64, known bool) {
	if rate, known := find(model, over); known {
		return rate.cost(t), true
	}
	if m := cloud.FindStringSubmatch(model); m != nil {
		if rate, known := find(m[1], nil); known {
			return rate.cost(t) * regional, true
		}
	}
	bound, found := 0.0, false
	for _, provider := range providers {
		if !provider.MatchString(model) {
			continue
		}
		for name, rate := range listed {
			if provider.MatchString(name) {
				bound = max(bound, rate.cost(t))
				found = true
			}
		}
	}
	return bound, found
}

// A snapshot costs what its model does, and so does a longer context, which Claude Code writes as [1m].
var variant = pattern.Of(`(?:-20\d\d-?\d\d-?\d\d)?(?:\[1m\])?$`)

// find takes exact names only: "gpt-6-sol-fast" is another model at another price, and no prefix shows by how much.
func find(model string, over map[string]Rate) (Rate, bool) {
	for _, name := range []string{model, variant.ReplaceAllString(model, "")} {
		for _, rates := range []map[string]Rate{over, listed} {
			if rate, known := rates[name]; known {
				return rate, true
			}
		}
	}
	return Rate{}, false
}
