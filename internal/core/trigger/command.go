package trigger

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/lib/jsontree"
)

// Verb is the action that a comment asks for.
type Verb string

// The verbs of comments.
const (
	Run     Verb = "run"
	Help    Verb = "help"
	Plan    Verb = "plan"
	Approve Verb = "approve"
	Stop    Verb = "stop"
	Resume  Verb = "resume"
	Retry   Verb = "retry"
	Status  Verb = "status"
	Update  Verb = "update" // merge the base branch
	Prove   Verb = "prove"  // without an agent, in its own workflow
)

var verbs = []Verb{Run, Help, Plan, Approve, Stop, Resume, Retry, Status, Update, Prove}

// ContinuesRun reports whether v needs an existing run.
func (v Verb) ContinuesRun() bool { return v == Approve || v == Resume || v == Retry }

// UsesAgent reports whether v may start an agent, which flags can limit.
func (v Verb) UsesAgent() bool {
	return slices.Contains([]Verb{Run, Plan, Approve, Resume, Retry, Update}, v)
}

// Command is what the trigger asks for.
type Command struct {
	Verb  Verb
	Flags Flags
	Story string // the story to retry
	Words string // the rest of the comment, for the agent
	// Said is an unknown or refused word that made the verb Help, Nearest a known word like it, and Why the reason.
	Said    string
	Nearest string
	Why     string
}

// RefusedCommand returns a Help command with the reason why another is refused.
func RefusedCommand(word, why string) Command { return Command{Verb: Help, Said: word, Why: why} }

// parseComment reads a comment that begins with phrase:
//
//	/ralph [verb] [flags] [-- more words]
//	more words
//
// It is ok only if the first line begins with the phrase as a word.
func parseComment(body, phrase string) (Command, bool) {
	first, rest, _ := strings.Cut(body, "\n")
	line, ok := cutPhrase(first, phrase)
	if !ok {
		return Command{}, false
	}
	cmd := parseCommand(line)
	cmd.Words = strings.TrimSpace(cmd.Words + "\n" + strings.TrimSpace(rest))
	return cmd, true
}

// marks are punctuation after a word that addresses somebody.
const marks = ",.:;!?"

// cutPhrase removes the phrase from the start of a line. A line of code is a quotation, not a command.
func cutPhrase(line, phrase string) (string, bool) {
	if strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    ") {
		return "", false
	}
	line = strings.TrimSpace(line)
	if len(line) < len(phrase) || !strings.EqualFold(line[:len(phrase)], phrase) {
		return "", false
	}
	rest := strings.TrimLeft(line[len(phrase):], ",.:;!") // "/ralph?" asks, and starts no work
	return rest, rest == "" || rest[0] == '?' || strings.TrimLeftFunc(rest, unicode.IsSpace) != rest
}

// parseCommand reads the first line after the phrase, word by word. The words after the
// last verb or flag are for the agent and stay unchanged: an apostrophe is no quote there.
func parseCommand(line string) Command {
	var cmd Command
	for {
		word, rest := cutWord(line)
		switch {
		case word == "":
			return cmd.completed()
		case word == "--":
			cmd.Words = rest
			return cmd.completed()
		case isFlag(word):
			after, wrong := cmd.Flags.readFlag(line)
			if wrong != nil {
				return *wrong
			}
			line = after
			continue
		case cmd.Verb == "":
			cmd.Verb = toVerb(word)
			if !slices.Contains(verbs, cmd.Verb) {
				return Command{Verb: Help, Said: word, Nearest: guessVerb(word), Words: rest}
			}
		case cmd.Verb == Retry && cmd.Story == "":
			cmd.Story = strings.TrimRight(word, marks)
		default:
			cmd.Words = strings.TrimSpace(line)
			return cmd.completed()
		}
		line = rest
	}
}

// completed refuses flags, which limit an agent, with other verbs.
func (c Command) completed() Command {
	c.Verb = cmp.Or(c.Verb, Run)
	if c.Flags != (Flags{}) && !c.Verb.UsesAgent() {
		return RefusedCommand(string(c.Verb), "it takes no flags")
	}
	return c
}

func toVerb(word string) Verb { return Verb(strings.TrimRight(strings.ToLower(word), marks)) }

// guessVerb returns the verb that a word may stand for, or nothing.
func guessVerb(word string) string {
	var names []string
	for _, verb := range verbs {
		names = append(names, string(verb))
	}
	nearest, _ := jsontree.Nearest(string(toVerb(word)), names)
	return nearest
}

func cutWord(line string) (word, rest string) {
	line = strings.TrimSpace(line)
	end := strings.IndexFunc(line, unicode.IsSpace)
	if end < 0 {
		return line, ""
	}
	return line[:end], strings.TrimSpace(line[end:])
}
