package policy

import "strings"

// Session is a loop within one session of an agent: the session goes on until
// its agent has given the word as a promise. What the agent does before it
// wants to end for the first time is iteration 0; Limits.Iterations is how
// often it may be sent back to work after that.
const (
	Session   Preset = "session"
	ByPromise Done   = "promise"
)

// NoWork is what becomes of a promise before enough tools were called.
type NoWork string

// Such a promise is rejected, unless people want to believe it.
const (
	NoWorkRejected NoWork = "reject"
	NoWorkAccepted NoWork = "accept"
)

// SessionRules is what a loop of that kind goes by, besides its limits.
type SessionRules struct {
	MinTools int    `json:"min_tools,omitempty"` // calls before a promise counts
	NoWork   NoWork `json:"no_work,omitempty"`   // NoWorkRejected where empty
	Ultra    bool   `json:"ultra,omitempty"`     // every continuation begins with words that ask for more
	// Cap is how many ends in a row the agent's program lets be refused while
	// no tool is called; 0: any number. The one after that it does not ask
	// about, it ends.
	Cap int `json:"cap,omitempty"`
}

// Marker is the word as the agent has to write it, to the letter.
func (p Policy) Marker() string { return "<promise>" + p.Word + "</promise>" }

// Shout is a reason as loops within a session have always called it.
func (r Reason) Shout() string {
	if r == MaxIterations {
		return "MAX_ITERATIONS_REACHED"
	}
	return strings.ToUpper(string(r))
}
