package trigger

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/plan"
)

// Verb is what a comment asks for. The set is closed.
type Verb string

// The verbs people may use. Those that do not work yet are answered as such,
// so that nobody takes them for a typing error.
const (
	Run     Verb = "run"
	Help    Verb = "help"
	Plan    Verb = "plan"
	Approve Verb = "approve"
	Stop    Verb = "stop"
	Resume  Verb = "resume"
	Retry   Verb = "retry"
	Status  Verb = "status"
)

var verbs = []Verb{Run, Help, Plan, Approve, Stop, Resume, Retry, Status}

// Verbs are all the verbs there are, in the order help shows them.
func Verbs() []Verb { return slices.Clone(verbs) }

// Works tells whether v does something already.
func (v Verb) Works() bool {
	switch v {
	case Run, Help, Resume:
		return true
	case Plan, Approve, Stop, Retry, Status:
		return false
	}
	return false
}

// Command is what the trigger asks for.
type Command struct {
	Verb  Verb
	Words string // what was said beside the verb: for the agent, not for us
	// Said is the word or flag nobody understood, where the verb became Help
	// by that and not by its name. Nearest is the verb it may have meant.
	Said    string
	Nearest Verb
}

// parse reads a comment that begins with phrase. It reads
//
//	/ralph [run] [-- more words]
//	more words
//
// and ok is false where the first line does not begin with the phrase as a
// word. Resume is run by another name: a run that is unfinished goes on.
func parse(body, phrase string) (cmd Command, ok bool) {
	first, rest, _ := strings.Cut(body, "\n")
	first = strings.TrimSpace(first)
	if len(first) < len(phrase) || !strings.EqualFold(first[:len(phrase)], phrase) {
		return Command{}, false
	}
	line := first[len(phrase):]
	if line != "" && strings.TrimLeft(line, " \t") == line {
		return Command{}, false
	}
	verb, words := cutWord(line)
	cmd = command(verb, words)
	cmd.Words = strings.TrimSpace(cmd.Words + "\n" + strings.TrimSpace(rest))
	return cmd, true
}

// command reads the first line after the phrase.
func command(verb, words string) Command {
	known := Verb(strings.ToLower(verb))
	switch {
	case verb == "":
		return Command{Verb: Run}
	case verb == "--":
		return Command{Verb: Run, Words: words}
	case strings.HasPrefix(verb, "-"):
		return Command{Verb: Help, Said: verb, Words: words}
	case !slices.Contains(verbs, known):
		return Command{Verb: Help, Said: verb, Nearest: nearest(verb), Words: words}
	}
	return withWords(known, words)
}

// withWords refuses a flag rather than hand it to the agent as words: who
// asks for three iterations must not get ten.
func withWords(verb Verb, words string) Command {
	if verb == Resume {
		verb = Run
	}
	word, rest := cutWord(words)
	switch {
	case word == "--":
		return Command{Verb: verb, Words: rest}
	case verb == Run && len(word) > 1 && word[0] == '-':
		return Command{Verb: Help, Said: word, Words: rest}
	}
	return Command{Verb: verb, Words: words}
}

func cutWord(line string) (word, rest string) {
	line = strings.TrimSpace(line)
	end := strings.IndexAny(line, " \t")
	if end < 0 {
		return line, ""
	}
	return line[:end], strings.TrimSpace(line[end:])
}

// nearest is the verb that said may have meant, or none.
func nearest(said string) Verb {
	names := make([]string, 0, len(verbs))
	for _, verb := range verbs {
		names = append(names, string(verb))
	}
	meant, _ := plan.Nearest(said, names)
	return Verb(meant)
}
