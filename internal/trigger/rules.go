package trigger

import "strings"

// Rules are the words that wake us and the names that need no permission. The
// zero value holds the defaults and vouches for nobody.
type Rules struct {
	Label      string // DefaultLabel where empty
	Phrase     string // DefaultPhrase where empty
	Assignee   string // to be assigned starts work; nobody where empty
	Reviews    bool   // a review that asks for changes does so
	Buttons    bool   // and so do the boxes in our own comment
	AllowUsers []string
	AllowBots  []string // with or without the "[bot]" at the end
}

// What wakes us unless a repository says otherwise.
const (
	DefaultLabel  = "ralph"
	DefaultPhrase = "/ralph"
)

func (r Rules) label() string {
	if label := strings.TrimSpace(r.Label); label != "" {
		return label
	}
	return DefaultLabel
}

func (r Rules) phrase() string {
	if phrase := strings.TrimSpace(r.Phrase); phrase != "" {
		return phrase
	}
	return DefaultPhrase
}

// Worded is text of ours with the words that wake us here, where they are others
// than the default: what people are told to say must be what is heard.
func (r Rules) Worded(text string) string {
	return strings.NewReplacer(
		"`"+DefaultPhrase+"`", "`"+r.phrase()+"`", "`"+DefaultPhrase+" ", "`"+r.phrase()+" ",
		"the label `"+DefaultLabel+"`", "the label `"+r.label()+"`",
	).Replace(text)
}

// Vouches tells whether the rules name who, so that GitHub need not be asked
// for a permission. GitHub could not answer for most bots anyway.
func (r Rules) Vouches(who Sender) bool {
	if who.IsBot {
		return named(r.AllowBots, who.Login, bare)
	}
	return named(r.AllowUsers, who.Login, strings.TrimSpace)
}

// named compares as GitHub does with logins: in any case.
func named(names []string, login string, trim func(string) string) bool {
	for _, name := range names {
		if name := trim(name); name != "" && strings.EqualFold(name, trim(login)) {
			return true
		}
	}
	return false
}

// bare is a bot's login as people write it down.
func bare(login string) string {
	return strings.TrimSuffix(strings.ToLower(strings.TrimSpace(login)), "[bot]")
}

// same compares names that GitHub does not tell apart by case.
func same(a, b string) bool {
	return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b))
}
