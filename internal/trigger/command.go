package trigger

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/plan"
)

// Verb is what a comment asks for. The set is closed.
type Verb string

// The verbs people may use.
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

// Continues tells whether v means a run that there is, and never a new one.
func (v Verb) Continues() bool { return v == Approve || v == Resume || v == Retry }

// Agent tells whether v may have an agent work: then there are limits that
// flags can tighten, and words that somebody reads.
func (v Verb) Agent() bool {
	switch v {
	case Run, Plan, Approve, Resume, Retry:
		return true
	case Help, Stop, Status:
		return false
	}
	return false
}

// Command is what the trigger asks for.
type Command struct {
	Verb  Verb
	Flags Flags
	Story string // what to retry
	Words string // what was said beside the verb: for the agent, not for us
	// Said is what nobody understood or nobody may ask for, where the verb
	// became Help by that and not by its name. Nearest is what may have been
	// meant, and Why is what is wrong with it.
	Said    string
	Nearest string
	Why     string
}

// Refused is help in the place of what cannot be done, with the reason.
func Refused(said, why string) Command { return Command{Verb: Help, Said: said, Why: why} }

// parse reads a comment that begins with phrase. It reads
//
//	/ralph [verb] [flags] [-- more words]
//	more words
//
// and ok is false where the first line does not begin with the phrase as a
// word. Only the first line is ours to understand.
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
	cmd = command(line)
	cmd.Words = strings.TrimSpace(cmd.Words + "\n" + strings.TrimSpace(rest))
	return cmd, true
}

// command reads the first line after the phrase, word by word. What follows
// the first word that is neither verb nor flag is the agent's, as it stands:
// an apostrophe there is no quote.
func command(line string) Command {
	var cmd Command
	for {
		word, rest := cutWord(line)
		switch {
		case word == "":
			return cmd.begun()
		case word == "--":
			cmd.Words = rest
			return cmd.begun()
		case isFlag(word):
			after, wrong := cmd.Flags.read(line)
			if wrong != nil {
				return *wrong
			}
			line = after
			continue
		case cmd.Verb == "":
			cmd.Verb = Verb(strings.ToLower(word))
			if !slices.Contains(verbs, cmd.Verb) {
				return Command{Verb: Help, Said: word, Nearest: nearest(word, verbNames()), Words: rest}
			}
		case cmd.Verb == Retry && cmd.Story == "":
			cmd.Story = word
		default:
			cmd.Words = strings.TrimSpace(line)
			return cmd.begun()
		}
		line = rest
	}
}

// begun is the command when all of it was read. Flags tell an agent's run what
// it may use; beside any other verb they would do nothing, and be believed.
func (c Command) begun() Command {
	if c.Verb == "" {
		c.Verb = Run
	}
	if c.Flags != (Flags{}) && !c.Verb.Agent() {
		return Refused(string(c.Verb), "it takes no flags")
	}
	return c
}

func verbNames() []string {
	names := make([]string, 0, len(verbs))
	for _, verb := range verbs {
		names = append(names, string(verb))
	}
	return names
}

func cutWord(line string) (word, rest string) {
	line = strings.TrimSpace(line)
	end := strings.IndexAny(line, " \t")
	if end < 0 {
		return line, ""
	}
	return line[:end], strings.TrimSpace(line[end:])
}

// nearest is the one of known that said may have meant, or none.
func nearest(said string, known []string) string {
	meant, _ := plan.Nearest(said, known)
	return meant
}
