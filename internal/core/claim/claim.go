// Package claim finds an agent's statements about its own work in its messages: a promise, a response, a question, a
// completion tag. Package verdict decides whether to believe them.
package claim

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

const (
	maxPromises = 16   // different ones that are kept, beside those wanted
	maxPromise  = 200  // bytes, unless it is wanted
	maxResponse = 4096 // bytes. A longer one is a text that happens to hold two tags
)

// Claims are the claims in an agent's messages. Every claim stands on one line.
type Claims struct {
	Wanted []string // promises that count beyond the limits
	Bare   bool     // one of these alone on a line is a promise, too

	Promises []string // the different <promise>X</promise> in order. X is exact, and case counts
	Response string   // what the first <response>…</response> holds. The tags may be in any case
	Question string   // what the first <question>…</question> asks of people, if it is not empty

	others   int // promises that are not wanted
	answered bool
}

// Read adds the claims of a whole message.
func (c *Claims) Read(message string) {
	for line := range strings.SplitSeq(message, "\n") {
		c.readLine(line)
		if !c.Bare {
			continue
		}
		if alone := strings.Trim(line, " \t\r\v\f"); slices.Contains(c.Wanted, alone) {
			c.addPromise(alone)
		}
	}
}

var (
	response = pattern.Of(`(?i)<response>(.*?)</response>`)
	question = pattern.Of(`(?i)<question>(.*?)</question>`)
)

func (c *Claims) readLine(line string) {
	if !strings.Contains(line, "</") {
		return
	}
	for part := range strings.SplitAfterSeq(line, "</promise>") {
		// The last opening counts: "say <promise>…" is not yet a promise.
		before, closed := strings.CutSuffix(part, "</promise>")
		if i := strings.LastIndex(before, "<promise>"); closed && i >= 0 {
			c.addPromise(before[i+len("<promise>"):])
		}
	}
	if !c.answered {
		c.Response, c.answered = between(response, line)
	}
	if c.Question == "" {
		text, _ := between(question, line)
		c.Question = strings.TrimSpace(text)
	}
}

// between returns what stands between the first two tags that are not too far apart.
func between(tags *pattern.Pattern, text string) (string, bool) {
	for {
		at := tags.FindStringSubmatchIndex(text)
		switch {
		case at == nil:
			return "", false
		case at[3]-at[2] <= maxResponse:
			return text[at[2]:at[3]], true
		}
		text = text[at[3]-maxResponse-len("<response>"):] // all openings before that are too far away
	}
}

func (c *Claims) addPromise(words string) {
	if words == "" || slices.Contains(c.Promises, words) {
		return
	}
	if !slices.Contains(c.Wanted, words) {
		if len(words) > maxPromise || c.others == maxPromises {
			return
		}
		c.others++
	}
	c.Promises = append(c.Promises, words)
}
