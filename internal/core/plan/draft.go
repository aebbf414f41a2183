package plan

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"

	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// Source says how the stories of a plan were found.
type Source string

// Draft tries them in this order.
const (
	SourceJSON     Source = "json"     // a PRD, bare or in a code block
	SourceTaskList Source = "tasklist" // - [ ] one story
	SourceCriteria Source = "criteria" // one story: criteria under a heading
	SourcePlain    Source = "plain"    // one story: the whole text
)

// maxBody is GitHub's limit for the characters of an issue. A Markdown parser takes
// quadratic time for some texts: for this limit, seconds.
const maxBody = 65_536

// Draft makes a plan of a task without a model, so the same text gives the same stories. An issue cannot set the
// branch name.
func Draft(t Task) (Plan, Source, error) {
	if t.Update {
		return t.updatePlan(), SourceUpdate, nil
	}
	if len(t.Remarks) > 0 {
		return t.reviewPlan()
	}
	body := clean.Visible(t.Body)
	if t.Kind == KindPrompt {
		body = withoutTitle(body, t.Title)
	}
	if IsPRD(body) {
		return fromJSON(t, []byte(body))
	}
	if n := utf8.RuneCountInString(body); n > maxBody {
		return Plan{}, "", fmt.Errorf("%s: found %d characters, want at most %d", t, n, maxBody)
	}
	p := parseMarkdown(body)
	if code := fencedPRD(p); code != nil {
		above := bytes.Count(p.src[:code.Lines().At(0).Start], []byte("\n"))
		lines := bytes.Repeat([]byte("\n"), above) // so that errors have the number of a line in the body
		return fromJSON(t, append(lines, code.Lines().Value(p.src)...))
	}
	d := drafter{task: t, body: strings.TrimSpace(body), doc: p, sections: splitSections(p)}
	return d.plan()
}

func fromJSON(t Task, data []byte) (Plan, Source, error) {
	p, err := Read(t.String(), data)
	if err != nil {
		return Plan{}, SourceJSON, err
	}
	if t.Kind != KindPrompt {
		p.BranchName = ""
	}
	p.Project = cmp.Or(p.Project, t.Repo)
	return p, SourceJSON, nil
}

// storiesKey distinguishes a PRD from other JSON. It matches misspelled keys, too: Read reports them.
var storiesKey = pattern.Of(`(?i)"user[_-]?stor(y|ies)"\s*:`)

// IsPRD reports whether a text is a PRD, and no Markdown.
func IsPRD(s string) bool {
	return strings.HasPrefix(strings.TrimSpace(s), "{") && storiesKey.MatchString(s)
}

// fencedPRD returns the first code block outside of quotes that has stories.
func fencedPRD(p document) *ast.FencedCodeBlock {
	var found *ast.FencedCodeBlock
	_ = ast.Walk(p.doc, func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		if n.Kind() == ast.KindBlockquote {
			return ast.WalkSkipChildren, nil
		}
		code, ok := n.(*ast.FencedCodeBlock)
		if !ok || !enter {
			return ast.WalkContinue, nil
		}
		language := strings.ToLower(string(code.Language(p.src)))
		known := language == "" || language == "json"
		if known && IsPRD(string(code.Lines().Value(p.src))) {
			found = code
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return found
}

type drafter struct {
	task     Task
	body     string // the task's text, as people see it
	doc      document
	sections []section
}

func (d *drafter) plan() (Plan, Source, error) {
	if t := d.task; (t.Kind == KindIssue || t.Title != "") && emptyTitle.MatchString(t.Title) {
		return Plan{}, "", fault.Usage("nothing to plan in "+t.String()+": its title is empty",
			"describe the work in the title", nil)
	}
	title := d.title()
	if title == "" {
		return Plan{}, "", fault.Usage("nothing to plan in "+d.task.String(),
			"describe the work in the title, or list stories in the body as - [ ] items", nil)
	}
	about := clean.OneLine(clean.Visible(d.task.Title))
	from, entries := SourceTaskList, d.taskEntries()
	if len(entries) == 0 {
		from, entries = d.singleEntry(title)
	} else {
		about = joinParagraphs(about, d.body)
	}
	stories, err := d.stories(entries)
	if err != nil {
		return Plan{}, from, err
	}
	p := Plan{Project: clean.OneLine(d.task.Repo), Description: about, UserStories: stories}
	if _, err := p.Marshal(); err != nil {
		return Plan{}, from, fmt.Errorf("%s: %w", d.task, err)
	}
	return p, from, nil
}

// withoutTitle returns a prompt without its first line where that is the title.
func withoutTitle(prompt, title string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	if strings.TrimSpace(first) != title {
		return prompt
	}
	return rest
}

// emptyTitle matches a title that has only the prefix of an issue form.
var emptyTitle = pattern.Of(`^(?:\[[^\]]*\]|<[^>]*>|\([^)]*\)|[\pL ]+:|[\s:.-])*$`)

func (d *drafter) title() string {
	if title := clean.OneLine(clean.Visible(d.task.Title)); !emptyTitle.MatchString(title) {
		return title
	}
	for _, s := range d.sections {
		if s.title != "" {
			return s.title
		}
		for _, b := range s.blocks {
			if title, _ := headline(d.leadingText(b)); title != "" {
				return title
			}
		}
	}
	return ""
}

// leadingText returns the first text in a block that is not code.
func (d *drafter) leadingText(n ast.Node) string {
	for ; n != nil; n = n.FirstChild() {
		switch n.Kind() {
		case ast.KindParagraph, ast.KindTextBlock, ast.KindHeading:
			return d.doc.inlineText(n)
		}
	}
	return ""
}

func joinParagraphs(parts ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(parts), blank), "\n\n")
}

// IsVague reports whether the plan is a single story that only repeats the issue.
func IsVague(t Task, p Plan, from Source) bool {
	if t.Kind != KindIssue || from != SourcePlain || len(p.UserStories) != 1 {
		return false
	}
	story := p.UserStories[0]
	if story.Untested() || len(story.AcceptanceCriteria) != 1 {
		return false
	}
	return strings.HasPrefix(story.AcceptanceCriteria[0], strings.TrimSuffix(story.Title, "…"))
}

const maxSketched = 20 // how many stories an agent may plan for one task

// ErrNoPlan means that an answer has no plan.
var ErrNoPlan = errors.New("the answer has no JSON with userStories")

// FromAnswer reads the stories from an agent's answer: a PRD, alone or in a code block. It drops the fields that an
// agent may not set, and returns their names.
func FromAnswer(answer string) ([]Story, []string, error) {
	text := clean.Visible(answer)
	if !IsPRD(text) {
		code := fencedPRD(parseMarkdown(text))
		if code == nil {
			return nil, nil, ErrNoPlan
		}
		text = string(code.Lines().Value([]byte(text)))
	}
	p, err := Read("the plan", []byte(text))
	if err != nil {
		return nil, nil, err
	}
	if n := len(p.UserStories); n > maxSketched {
		return nil, nil, fmt.Errorf("the plan: found %d stories, want at most %d", n, maxSketched)
	}
	var stories []Story
	var dropped []string
	if len(p.VerifyCommands) > 0 {
		dropped = append(dropped, "verifyCommands")
	}
	for _, story := range p.UserStories {
		allowed, others := story.agentFields()
		stories = append(stories, allowed)
		dropped = append(dropped, others...)
	}
	return stories, slices.Compact(dropped), validate(Plan{UserStories: stories})
}

// agentFields returns the fields that a planning agent may set, and the names of the others. Invisible text is removed:
// the agent can have read text that people do not see.
func (s Story) agentFields() (Story, []string) {
	title, _ := clean.Plain(s.Title, maxBody)
	allowed := Story{
		ID:          s.ID,
		Title:       clean.OneLine(title),
		Description: visibleText(s.Description),
		Priority:    s.Priority,
		DependsOn:   s.DependsOn,
	}
	for _, criterion := range s.AcceptanceCriteria {
		allowed.AcceptanceCriteria = append(allowed.AcceptanceCriteria, clean.OneLine(visibleText(criterion)))
	}
	var dropped []string
	if s.Passes {
		dropped = append(dropped, "passes of "+s.ID)
	}
	if s.NeedsTest != nil {
		dropped = append(dropped, "needsTest of "+s.ID)
	}
	if s.MayChangeTests {
		dropped = append(dropped, "mayChangeTests of "+s.ID)
	}
	return allowed, dropped
}

func visibleText(text string) string { return clean.FromMarkdown(text, maxBody).Text }
