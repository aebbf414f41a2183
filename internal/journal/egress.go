package journal

import "time"

// EgressRefused says that those behind the wall asked for something outside and
// did not get it. It is told once for each thing, and changes no decision.
type EgressRefused struct {
	What  string `json:"what"`            // host and port, or what was wanted of the model
	Why   string `json:"why"`             // in the program's words
	Input string `json:"input,omitempty"` // the line that would allow it; empty where none does
}

// Type is the event's name in the journal.
func (EgressRefused) Type() string { return "egress_refused" }

func (e EgressRefused) fold(r *Run, _ time.Time) {
	r.Refused = append(r.Refused, e)
}
