package agent

import (
	"slices"
	"time"
)

// passing are the HTTP statuses of a model server that will answer another
// time; 529 is Anthropic's word for being overloaded.
var passing = []int{408, 429, 500, 502, 503, 504, 529}

// busy tells whether the agent's turn failed because the server of its model
// turned it away for now, and until when. It goes by what the program reported
// of the call, never by words: an agent may write of rate limits all day.
func (s *sum) busy(e ending) (is bool, until time.Time) {
	if s.result == nil || !s.result.Failed || e.interrupted || e.err != nil || e.TimedOut || s.denied(e) != "" {
		return false, time.Time{}
	}
	r := *s.result
	if until = upcoming(r.Until, e.now); r.After > 0 && e.now != nil {
		until = e.now().Add(r.After)
	}
	return r.Busy || !until.IsZero() || slices.Contains(passing, r.Status), until.UTC()
}
