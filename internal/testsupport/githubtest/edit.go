package githubtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// change is a PATCH of an issue or a pull request; nil leaves a field alone.
type change struct {
	Title, Body, State, Base *string
	Labels                   []json.RawMessage
	Assignees                *[]string
}

func editIssue(c *call) answer {
	i := c.issueOrNil()
	if i == nil {
		return notFound()
	}
	var asked change
	if wrong := c.decode(&asked); wrong != nil {
		return *wrong
	}
	if refused := c.mayEdit(i.Author, "triage"); refused != nil {
		return *refused
	}
	if wrong := c.apply(i, asked); wrong != nil {
		return *wrong
	}
	return ok(c.server.issueJSON(c.repo, i))
}

// mayEdit lets a person change what is their own, and others by role. An App's
// token was judged by its permissions before.
func (c *call) mayEdit(author, others string) *answer {
	mine := strings.EqualFold(c.token.Login, author)
	if mine || !c.token.below(others, c.repo) {
		return nil
	}
	reply := fail(http.StatusForbidden, "Must have admin rights to Repository.")
	return &reply
}

func (c *call) apply(i *issue, asked change) *answer {
	if asked.State != nil && *asked.State != "open" && *asked.State != "closed" {
		reply := invalid(problem{Resource: "Issue", Code: "invalid", Field: "state", Value: *asked.State})
		return &reply
	}
	i.UpdatedAt = c.server.now()
	if asked.Title != nil || asked.Body != nil {
		i.EditedAt = i.UpdatedAt
	}
	if asked.Title != nil {
		i.Title = *asked.Title
	}
	if asked.Body != nil {
		i.Body = *asked.Body
	}
	if asked.Assignees != nil {
		i.Assignees = slices.Clone(*asked.Assignees)
	}
	if asked.Labels != nil {
		i.Labels = nil
		for _, raw := range asked.Labels {
			c.server.label(c.repo, i, labelName(raw))
		}
	}
	if asked.State != nil {
		i.State, i.ClosedAt = *asked.State, time.Time{}
		if i.State == "closed" {
			i.ClosedAt = i.UpdatedAt
		}
	}
	return nil
}
