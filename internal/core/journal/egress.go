package journal

import "time"

// EgressRefused records a target that the sandbox refused, once. It changes no decision.
type EgressRefused struct {
	What  string `json:"what"`            // host and port, or the request to the model
	Why   string `json:"why"`             // in ralph's words
	Input string `json:"input,omitempty"` // the line that would allow it; empty: none
}

func (e EgressRefused) fold(r *Run, _ time.Time) { r.Box.Refused = append(r.Box.Refused, e) }

// EgressPassed records the traffic through the sandbox since the last such event.
type EgressPassed struct {
	Hosts []Passage `json:"hosts"` // the largest
	Rest  *Passage  `json:"rest,omitempty"`
}

// Passage is the traffic with one host, or with several.
type Passage struct {
	Host  string `json:"host,omitempty"` // with its port
	Times int64  `json:"times"`          // connections, and requests to a model
	Up    int64  `json:"up"`             // bytes sent from the sandbox
	Down  int64  `json:"down"`           // bytes received
}

func (EgressPassed) fold(*Run, time.Time) {} // it changes no decision, and nothing shows the sum
