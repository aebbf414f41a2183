package trigger

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/plan"
)

// task takes the words from the trigger itself and never from a later look:
// what is written after the label went on was not what the labeller read.
func (t Trigger) task(cmd Command) plan.Task {
	task := plan.Task{
		Kind: plan.KindIssue, Number: t.Issue.Number, Title: t.Issue.Title, Body: t.Issue.Body,
		Author: t.Issue.Author, URL: t.Issue.URL, Repo: t.Repo.String(),
	}
	switch {
	case t.OnPull(): // its text is what its author says of it, and no order
		task.Kind, task.Body = plan.KindPull, ""
	case t.Issue.Number == 0:
		task.Kind, task.Author = plan.KindPrompt, t.Sender.Login
		task.Title, task.Body = headed(t.Given.Prompt)
		return task
	}
	for _, more := range []string{t.Given.Prompt, t.quoted("review", t.Review.Body), t.quoted("comment", cmd.Words)} {
		task.Body = paragraph(task.Body, more)
	}
	return task
}

// quoted is text with what it is and who wrote it.
func (t Trigger) quoted(what, text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	who := cmp.Or(t.Comment.Author, t.Sender.Login)
	if at := t.Comment.Thread.String(); at != "" {
		what += " on " + at
	}
	return fmt.Sprintf("From the %s by %s:\n\n%s", what, who, text)
}

// maxTitle is where the first line of a prompt is too long for a title.
const maxTitle = 200

// headed is a prompt as a title and a body.
func headed(prompt string) (title, body string) {
	title, body, _ = strings.Cut(strings.TrimSpace(prompt), "\n")
	title, body = strings.TrimSpace(title), strings.TrimSpace(body)
	if utf8.RuneCountInString(title) > maxTitle {
		return string([]rune(title)[:maxTitle-1]) + "…", strings.TrimSpace(prompt)
	}
	return title, body
}

func paragraph(body, more string) string {
	body = strings.TrimRight(body, " \t\r\n")
	switch {
	case strings.TrimSpace(more) == "":
		return body
	case body == "":
		return more
	}
	return body + "\n\n" + more
}
