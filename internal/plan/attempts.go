package plan

// How often ralph works on red checks of its own pull request.
const (
	MaxOfHead = 3
	MaxOfPull = 5
)

// Attempts counts the runs for red checks of one pull request.
type Attempts struct {
	Head   string `json:"head"` // that was red last
	OfHead int    `json:"of_head"`
	OfPull int    `json:"of_pull"`
}

// Next counts one more on head. ok is false where there were enough.
func (a Attempts) Next(head string) (next Attempts, ok bool) {
	if a.Head != head {
		a.Head, a.OfHead = head, 0
	}
	a.OfHead, a.OfPull = a.OfHead+1, a.OfPull+1
	return a, a.OfHead <= MaxOfHead && a.OfPull <= MaxOfPull
}

// Max is the one of two counts of the same pull request that has more.
func (a Attempts) Max(b Attempts) Attempts {
	if b.OfPull > a.OfPull {
		return b
	}
	return a
}
