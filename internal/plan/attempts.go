package plan

// The limits for runs on red checks of one head, and of one pull request.
const (
	MaxOfHead = 3
	MaxOfPull = 5
)

// Attempts counts the runs for red checks of one pull request.
type Attempts struct {
	Head   string `json:"head"` // the newest head with red checks
	OfHead int    `json:"of_head"`
	OfPull int    `json:"of_pull"`
}

// Next counts one more run on head. ok is false if the limit is exceeded.
func (a Attempts) Next(head string) (next Attempts, ok bool) {
	if a.Head != head {
		a.Head, a.OfHead = head, 0
	}
	a.OfHead, a.OfPull = a.OfHead+1, a.OfPull+1
	return a, a.OfHead <= MaxOfHead && a.OfPull <= MaxOfPull
}

// Max returns the higher of two counts for the same pull request.
func (a Attempts) Max(b Attempts) Attempts {
	if b.OfPull > a.OfPull {
		return b
	}
	return a
}
