package driver

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/stream"
)

// refusals match the words of programs without a protocol. Without a denial, the server is busy.
var refusals = []struct {
	said   *pattern.Pattern
	denied stream.Denial
}{
	{pattern.Of(`(?i)no (?:\w+ )?credits? (?:left|remain|available|balance)|(?:insufficient|not enough|out of|low on) (?:\w+ )?credits?\b|credit balance|credits? (?:\w+ ){0,3}(?:low|used up|exhausted|expired)|insufficient_quota|` + statusWords + `402\b|^402$`), stream.NoCredit},
	{pattern.Of(`(?i)unauthori[sz]ed|(?:invalid|incorrect|missing|wrong|expired) (?:x-)?api[ -]?key|not logged in|authentication[ _](?:failed|error)|` + statusWords + `401\b|^401$`), stream.NoLogin},
	{pattern.Of(`(?i)rate[ _-]?limit(?:ed|s?[ _]\w*(?:reached|exceeded|hit|error))\b|(?:reached|exceeded|hit) \w*(?: \w+)? ?rate[ _-]?limit|too many requests|overloaded|` + statusWords + `(?:429|529)\b|^429$`), ""},
}

// statusWords come before the status of a model server's answer.
const statusWords = `(?:error|status|http|code|api)[\W_]*(?:[\d.]+ )?`

// readRefusal makes a result of the last words of a program that failed and has no
// protocol. An agent may write about rate limits: of what it prints, only a line that
// calls itself an error counts, or one that is alone.
func (s *collector) readRefusal(e ending) {
	if !e.agent.Adapter.Plain || s.result != nil || e.interrupted || e.err != nil || e.TimedOut || e.Signal != "" || e.Exit == 0 {
		return
	}
	words := strings.TrimSpace(string(s.words))
	last := words[strings.LastIndexByte(words, '\n')+1:]
	if causeScore(last) < namesError && strings.TrimSpace(last) != words {
		last = ""
	}
	for _, line := range []string{s.lastError, last} {
		for _, refusal := range refusals {
			if refusal.said.MatchString(line) {
				s.result = &stream.Result{
					Failed: true, Reason: fmt.Sprintf("exit code %d", e.Exit), Text: line,
					Denied: refusal.denied, Busy: refusal.denied == "",
				}
				return
			}
		}
	}
}
