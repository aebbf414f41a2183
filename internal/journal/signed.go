package journal

import "time"

// Signed records that GitHub signed the newest commits anew. The tree and its proofs stay.
type Signed struct {
	From string `json:"from"`
	To   string `json:"to"`
	Tree string `json:"tree,omitempty"`
}

func (e Signed) fold(r *Run, _ time.Time) {
	if r.Met == r.Head { // of the same work
		r.Met = e.To
	}
	r.Head, r.Signed, r.Failures = e.To, e.To, nil
}
