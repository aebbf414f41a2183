package trigger

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/pattern"
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
	Update  Verb = "update" // merge the base branch
	Prove   Verb = "prove"  // without an agent, by a workflow of its own
)

var verbs = []Verb{Run, Help, Plan, Approve, Stop, Resume, Retry, Status, Update, Prove}

// Verbs are all the verbs there are, in the order help shows them.
func Verbs() []Verb { return slices.Clone(verbs) }

// ContinuesRun tells whether v means a run that there is, and never a new one.
func (v Verb) ContinuesRun() bool { return v == Approve || v == Resume || v == Retry }

// UsesAgent tells whether v may have an agent work: then there are limits that
// flags can tighten, and words that somebody reads.
func (v Verb) UsesAgent() bool {
	switch v {
	case Run, Plan, Approve, Resume, Retry, Update:
		return true
	case Help, Stop, Status, Prove:
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
	// Said is the word that is unknown or not allowed, if that made the verb
	// Help. Nearest is what may have been meant, and Why is what is wrong with
	// it.
	Said    string
	Nearest string
	Why     string
}

// RefusedCommand is help in the place of what cannot be done, with the reason.
func RefusedCommand(said, why string) Command { return Command{Verb: Help, Said: said, Why: why} }

// parseComment reads a comment that begins with phrase. It reads
//
//	/ralph [verb] [flags] [-- more words]
//	more words
//
// and ok is false where the first line does not begin with the phrase as a
// word. Only the first line is ours to understand.
func parseComment(body, phrase string) (cmd Command, ok bool) {
	first, rest, _ := strings.Cut(body, "\n")
	line, ok := cutPhrase(first, phrase)
	if !ok {
		return Command{}, false
	}
	if next, _ := cutWord(line); strings.EqualFold(next, phrase) || hasSecondCommand(rest, phrase) {
		return RefusedCommand("", "a comment can have one command: put the second into its own comment"), true
	}
	cmd = parseCommand(line)
	cmd.Words = strings.TrimSpace(cmd.Words + "\n" + strings.TrimSpace(rest))
	return cmd, true
}

// marks are what people put behind a word that they call out.
const marks = ",.:;!?"

// cutPhrase is what follows the phrase on a line that begins with it. A line that
// Markdown shows as code only quotes it.
func cutPhrase(line, phrase string) (rest string, ok bool) {
	if strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    ") {
		return "", false
	}
	line = strings.TrimSpace(line)
	if len(line) < len(phrase) || !strings.EqualFold(line[:len(phrase)], phrase) {
		return "", false
	}
	rest = strings.TrimLeft(line[len(phrase):], ",.:;!")
	return rest, rest == "" || rest[0] == '?' || strings.TrimLeftFunc(rest, unicode.IsSpace) != rest
}

// hasSecondCommand tells of a second command in a comment, outside of what is quoted. To do
// the first alone would be to lose the other.
func hasSecondCommand(text, phrase string) bool {
	fenced := false
	for line := range strings.Lines(text) {
		if start := strings.TrimSpace(line); strings.HasPrefix(start, "```") || strings.HasPrefix(start, "~~~") {
			fenced = !fenced
		}
		rest, is := cutPhrase(line, phrase)
		word, _ := cutWord(rest)
		if is && !fenced && (word == "" || isFlag(word) || slices.Contains(verbs, toVerb(word))) {
			return true
		}
	}
	return false
}

// parseCommand reads the first line after the phrase, word by word. What follows
// the first word that is neither verb nor flag is the agent's, as it stands:
// an apostrophe there is no quote.
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
		case cmd.Verb == "" && slices.Contains(helpWords, word):
			return Command{Verb: Help}
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

// completed is the command when all of it was read. Flags tell an agent's run what
// it may use; beside any other verb they would do nothing, and be believed.
func (c Command) completed() Command {
	if c.Verb == "" {
		c.Verb = Run
	}
	if c.Flags != (Flags{}) && !c.Verb.UsesAgent() {
		return RefusedCommand(string(c.Verb), "it takes no flags")
	}
	return c
}

// helpWords are ways of asking for help that others have taught people.
var helpWords = []string{"?", "-h", "-?", "--help"}

// toVerb is a word as a verb, whether it is one or not.
func toVerb(word string) Verb { return Verb(strings.TrimRight(strings.ToLower(word), marks)) }

// synonyms are words for our verbs that look like none of them.
var synonyms = map[Verb][]string{
	Run:     {"start", "go", "begin", "do", "fix", "work"},
	Stop:    {"cancel", "abort", "halt", "end", "kill", "quit", "pause"},
	Resume:  {"continue", "proceed", "answer"},
	Approve: {"yes", "ok", "okay", "lgtm", "accept"},
	Retry:   {"again", "redo", "rerun"},
	Status:  {"progress", "state", "info"},
	Update:  {"rebase", "sync", "merge", "up-to-date"},
}

// guessVerb is the verb that a word may have been said for, or none.
func guessVerb(word string) string {
	said := string(toVerb(word))
	for _, one := range verbs {
		if slices.Contains(synonyms[one], said) {
			return string(one)
		}
	}
	return nearest(said, verbNames())
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
	end := strings.IndexFunc(line, unicode.IsSpace)
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

// Button is a box in a comment of ours that does what a command does once
// somebody ticks it; label is what people read.
func Button(verb Verb, label string) string {
	return fmt.Sprintf("- [ ] %sbutton %s --> %s", Marker, verb, label)
}

var buttonBox = pattern.Of(`(?m)^\s*- \[([ xX])\] <!-- ralph:button ([a-z]+) -->`)

// PressedButton is the verb of the box that an edit from before to after has ticked;
// empty where it ticked none, or more than one. Boxes that were ticked before
// are somebody else's doing, long done.
func PressedButton(before, after string) string {
	had := tickedBoxes(before)
	var fresh []string
	for verb, is := range tickedBoxes(after) {
		if is && !had[verb] {
			fresh = append(fresh, verb)
		}
	}
	if len(fresh) != 1 {
		return ""
	}
	return fresh[0]
}

// tickedBoxes tells of every box whether it is ticked.
func tickedBoxes(text string) map[string]bool {
	all := map[string]bool{}
	for _, found := range buttonBox.FindAllStringSubmatch(text, -1) {
		all[found[2]] = all[found[2]] || strings.EqualFold(found[1], "x")
	}
	return all
}

// buttonCommand reads the button of an edited comment.
func buttonCommand(t Trigger, rules Rules) (Command, string) {
	switch {
	case !rules.Buttons:
		return Command{}, `a comment that is "edited" starts nothing: only a new one does`
	case !t.Comment.Ours:
		return Command{}, `a comment that is "edited" starts nothing, unless it is our own`
	case t.Comment.Pressed == "":
		return Command{}, "the edit ticked no box of ralph"
	case !slices.Contains(verbs, Verb(t.Comment.Pressed)):
		return Command{}, fmt.Sprintf("there is no button %q", t.Comment.Pressed)
	}
	return Command{Verb: Verb(t.Comment.Pressed)}, ""
}
