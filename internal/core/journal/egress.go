package journal

import (
	"cmp"
	"slices"
	"time"
)

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

func (e EgressPassed) fold(r *Run, _ time.Time) {
	for _, p := range e.Hosts {
		r.Box.Traffic = addTraffic(r.Box.Traffic, p)
	}
	if e.Rest != nil {
		r.Box.Traffic = addTraffic(r.Box.Traffic, Passage{Times: e.Rest.Times, Up: e.Rest.Up, Down: e.Rest.Down})
	}
}

func addTraffic(all []Passage, p Passage) []Passage {
	i, found := slices.BinarySearchFunc(all, p.Host, func(a Passage, host string) int {
		return cmp.Compare(a.Host, host)
	})
	if !found {
		return slices.Insert(all, i, p)
	}
	all[i].Times += p.Times
	all[i].Up += p.Up
	all[i].Down += p.Down
	return all
}
