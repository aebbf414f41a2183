package trigger

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/lib/jsontree"
)

// Permission is a person's permission in the repository, by GitHub's name.
type Permission string

// Some of GitHub's permissions. The collaborator-permission API reports maintain as write,
// triage as read, and custom roles as their base.
const (
	Admin Permission = "admin"
	Write Permission = "write"
	None  Permission = "none"
)

// CanRun reports whether p is enough to start work: people who can push can let an agent push.
func (p Permission) CanRun() bool { return p == Admin || p == Write }

// Refusal is the reason why no work starts. It is not an error: the job succeeds.
type Refusal struct {
	Why    string
	Silent bool // only log it; no reaction on GitHub
}

// RequestFacts has facts about a request that are not in its event.
type RequestFacts struct {
	Permission Permission // of the asker; ignored if the rules allow the asker
	Edited     bool       // the issue was edited after the request
}

// Accept returns why the asker may not start the command, or nil. Help needs permission, too: its answer is a comment.
func Accept(t Trigger, cmd Command, rules Rules, known RequestFacts) *Refusal {
	// An issue in the inputs was fetched after CommandOf.
	if why := cmp.Or(whyUnfit(t, rules), t.whyClosed(cmd)); why != "" {
		return &Refusal{Why: why, Silent: true}
	}
	asker := t.Asker()
	switch {
	case !t.IsCI() && !rules.IsAllowed(asker) && !known.Permission.CanRun():
		why := fmt.Sprintf("%s needs write permission to start a run here and has %s; "+
			"allow-users can add people without it", asker.Login, cmp.Or(known.Permission, None))
		return &Refusal{Why: why}
	case known.Edited:
		why := fmt.Sprintf("#%d was edited after work on it was asked for: read it, and ask again", t.Issue.Number)
		return &Refusal{Why: why}
	}
	return nil
}

// Rules say what starts work, and for whom. The zero value has the defaults.
type Rules struct {
	Label        string // default: defaultLabel
	Phrase       string // default: defaultPhrase
	BranchPrefix string // of the branches whose red checks start work; default: DefaultBranchPrefix
	AllowUsers   []string
	AllowBots    []string // with or without the "[bot]" at the end
}

// The words that start work by default.
const (
	defaultLabel  = "ralph"
	defaultPhrase = "/ralph"
)

// DefaultBranchPrefix begins the names of ralph's branches.
const DefaultBranchPrefix = "ralph/"

func (r Rules) label() string { return cmp.Or(strings.TrimSpace(r.Label), defaultLabel) }

func (r Rules) phrase() string { return cmp.Or(strings.TrimSpace(r.Phrase), defaultPhrase) }

// IsCommand reports whether a comment is a command to ralph.
func (r Rules) IsCommand(text string) bool {
	_, ok := parseComment(text, r.phrase())
	return ok
}

// WithPhrases puts the repository's label and phrase into ralph's own text.
func (r Rules) WithPhrases(text string) string {
	return strings.NewReplacer(
		"`"+defaultPhrase+"`", "`"+r.phrase()+"`", "`"+defaultPhrase+" ", "`"+r.phrase()+" ",
		"the label `"+defaultLabel+"`", "the label `"+r.label()+"`",
	).Replace(text)
}

// IsAllowed reports whether the rules name an account. GitHub has no permission for most bots.
func (r Rules) IsAllowed(account Sender) bool {
	if account.IsBot {
		return containsLogin(r.AllowBots, account.Login, botName)
	}
	return containsLogin(r.AllowUsers, account.Login, strings.TrimSpace)
}

func containsLogin(names []string, login string, trim func(string) string) bool {
	for _, name := range names {
		if name := trim(name); name != "" && strings.EqualFold(name, trim(login)) {
			return true
		}
	}
	return false
}

func botName(login string) string {
	return strings.TrimSuffix(strings.ToLower(strings.TrimSpace(login)), "[bot]")
}

func equalNames(a, b string) bool {
	return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b))
}

// Tighten applies the command's flags, which can only lower limits. isAllowed reports whether a model
// is allowed. A flag that exceeds the repository's limits refuses the command.
func (c Command) Tighten(p policy.Policy, isAllowed func(model string) bool) (Command, policy.Policy) {
	f := c.Flags
	tight := p
	l := &tight.Limits
	for _, refused := range []*Command{
		lowerLimit("--max-iterations", &l.Iterations, f.Iterations),
		lowerLimit("--max-cost", &l.CostUSD, f.CostUSD),
		lowerLimit("--max-time", &l.Run, f.Run),
		lowerLimit("--iteration-timeout", &l.Iteration, f.Iteration),
		lowerLimit("--stall-after", &l.Stall, f.Stall),
	} {
		if refused != nil {
			return *refused, p
		}
	}
	if f.Model != "" && f.Model != p.Model {
		if !isAllowed(f.Model) {
			why := "it is neither the workflow's model nor one of `sandbox.allowModels`"
			return RefusedCommand("--model "+f.Model, why), p
		}
		tight.Model = f.Model
	}
	tight.Draft = p.Draft || f.Draft
	return c, tight
}

func lowerLimit[N cmp.Ordered](flag string, limit *N, value N) *Command {
	var none N
	if value == none {
		return nil
	}
	if *limit != none && value > *limit {
		why := fmt.Sprintf("the limit here is %v, and a comment can only lower it", *limit)
		return new(RefusedCommand(fmt.Sprintf("%s %v", flag, value), why))
	}
	*limit = value
	return nil
}

// Task makes the task of an accepted command, of the texts that the asker has read.
func (t Trigger) Task(cmd Command) plan.Task {
	task := plan.Task{
		Kind:   plan.KindIssue,
		Number: t.Issue.Number,
		Title:  t.Issue.Title,
		Body:   t.Issue.Body,
		Author: t.Issue.Author,
		URL:    t.Issue.URL,
		Repo:   t.Repo.String(),
	}
	switch {
	case t.IsOnPull(): // its text describes the change, not the task
		task.Kind = plan.KindPull
		task.Body = ""
		task.Update = cmd.Verb == Update
	case t.Issue.Number == 0:
		task.Kind = plan.KindPrompt
		task.Author = t.Sender.Login
		task.Title = firstLine(t.Inputs.Prompt)
		task.Body = t.Inputs.Prompt
		return task
	}
	task.Added = t.attributed("comment", cmd.Words)
	for _, more := range []string{t.Inputs.Prompt, t.attributed("review", t.Review.Body), task.Added} {
		if strings.TrimSpace(more) != "" {
			task.Body = strings.TrimLeft(strings.TrimRight(task.Body, " \t\r\n")+"\n\n"+more, "\n")
		}
	}
	return task
}

// attributed returns text under a line with its kind and author.
func (t Trigger) attributed(what, text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	who := cmp.Or(t.Comment.Author, t.Sender.Login)
	if at := t.Comment.Thread.String(); at != "" {
		what += " on " + at
	}
	return fmt.Sprintf("From the %s by %s:\n\n%s", what, who, text)
}

// maxTitle is how many characters the first line of a prompt can have to be the title.
const maxTitle = 200

// firstLine returns the title of a prompt.
func firstLine(prompt string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	return jsontree.Clip(strings.TrimSpace(line), maxTitle)
}
