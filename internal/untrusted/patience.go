package untrusted

import "time"

// Patience is for how long something may still be done that others can make slow, such as following links.
type Patience time.Duration

// Spend calls do if there is time left, and reports whether it did.
func (p *Patience) Spend(do func()) bool {
	if *p <= 0 {
		return false
	}
	began := time.Now() //nolint:forbidigo // how long it takes is all that counts
	do()
	*p -= Patience(time.Since(began)) //nolint:forbidigo // likewise
	return true
}
