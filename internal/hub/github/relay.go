package github

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	gh "github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/core/trigger"
)

// Relayed is a delivery from a GitHub App's server to a job, with comments and reviews as people wrote them. The text
// of an issue is not in it: the job fetches it, and refuses one that was edited since.
type Relayed struct {
	ID      string          `json:"id"` // X-GitHub-Delivery
	Trigger trigger.Trigger `json:"trigger"`
}

// maxRelayed is in characters: GitHub takes 65,535 of all inputs together.
const maxRelayed = 60_000

// Text is r as the input of a workflow.
func (r Relayed) Text() (string, error) {
	r.Trigger.Issue.Body = ""
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // six characters for one
	if err := encoder.Encode(r); err != nil {
		return "", fmt.Errorf("write delivery %s: %w", r.ID, err)
	}
	if n := utf8.RuneCount(text.Bytes()); n > maxRelayed {
		message := fmt.Sprintf("the event has %d characters, and a workflow dispatch takes %d", n, maxRelayed)
		return "", &Error{Kind: Refused, Message: message}
	}
	return string(bytes.TrimSpace(text.Bytes())), nil
}

// ReadRelayed reads the delivery in a workflow_dispatch, if there is one.
func ReadRelayed(payload []byte) (Relayed, bool, error) {
	var sent struct {
		Inputs struct {
			Delivery string `json:"delivery"`
		} `json:"inputs"`
	}
	if err := json.Unmarshal(payload, &sent); err != nil || sent.Inputs.Delivery == "" {
		return Relayed{}, false, nil //nolint:nilerr // such an event says nothing, and its content is not used
	}
	var r Relayed
	if err := json.Unmarshal([]byte(sent.Inputs.Delivery), &r); err != nil {
		return r, true, fmt.Errorf("read the input `delivery`: %w", err)
	}
	if r.ID == "" || !canRelay(r.Trigger) {
		return r, true, fmt.Errorf("the input `delivery` holds an event that starts nothing: %q", r.Trigger.Event)
	}
	return r, true, nil
}

// canRelay reports whether a job takes a relayed event. Those of pushes start nothing there.
func canRelay(t trigger.Trigger) bool { return trigger.CanStartWork(t.Event) || t.IsCI() }

// ReadWanted is ReadTrigger for an event with a command. Of others it returns why there is none, and the repository.
func ReadWanted(event string, body []byte, rules trigger.Rules) (trigger.Trigger, string, error) {
	read, err := ReadTrigger(event, body)
	if err != nil {
		return trigger.Trigger{}, "", err
	}
	_, why := trigger.CommandOf(read, rules)
	if why == "" && !canRelay(read) {
		why = fmt.Sprintf("the event %q is not relayed", event)
	}
	if why != "" {
		return trigger.Trigger{Repo: read.Repo}, why, nil
	}
	return read, "", nil
}

// CheckSignature reports whether GitHub signed body. The comparison takes constant time.
func CheckSignature(secret, signature string, body []byte) error {
	// SHA-1, which GitHub sends beside it for servers of old, is not enough.
	if secret == "" || !strings.HasPrefix(signature, "sha256=") {
		return errors.New("it is not signed with SHA-256")
	}
	return gh.ValidateSignature(signature, body, []byte(secret))
}
