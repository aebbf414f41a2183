package github

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	gh "github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/hub/upkeep"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

type checkRun struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	Conclusion string `json:"conclusion"`
	Output     struct {
		Title   string `json:"title"`
		Summary string `json:"summary"`
	} `json:"output"`
	App struct {
		Slug string `json:"slug"`
	} `json:"app"`
}

func (r checkRun) failed() bool { return r.Conclusion == "failure" || r.Conclusion == "timed_out" }

const (
	maxFailing = 5
	maxName    = 100
	maxLog     = 4_000    // characters, at the end of a log
	maxFetch   = 1 << 30  // bytes of a log that are fetched
	maxKept    = 16 << 20 // and kept, at its end
)

// Failing returns the checks that failed on a commit, with what can be read of their results.
func (c *Client) Failing(ctx context.Context, sha string) ([]trigger.Check, error) {
	red, err := c.redRuns(ctx, sha)
	if err != nil {
		return nil, err
	}
	var failing []trigger.Check
	for _, r := range red[:min(len(red), maxFailing)] {
		failing = append(failing, c.withText(ctx, r))
	}
	return failing, nil
}

func (c *Client) withText(ctx context.Context, r checkRun) trigger.Check {
	return trigger.Check{Name: r.Name, Summary: c.resultText(ctx, r)}
}

// checkRuns returns all checks of a commit: a matrix has hundreds.
func (c *Client) checkRuns(ctx context.Context, sha string) ([]checkRun, error) {
	type page struct {
		Runs []checkRun `json:"check_runs"`
	}
	a := operation{action: "read the checks of " + sha, permission: "checks: read"}
	a.path = "commits/" + url.PathEscape(sha) + "/check-runs?filter=latest"
	var all []checkRun
	err := eachPage(ctx, c, a, commentPages, func(p page) bool {
		all = append(all, p.Runs...)
		return true
	})
	return all, err
}

type annotation struct {
	Path    string `json:"path"`
	Line    int    `json:"start_line"`
	Message string `json:"message"`
}

// resultText returns a check's summary, its annotations and the end of its log. It shows no error of
// a log, which contains an address that opens the log.
func (c *Client) resultText(ctx context.Context, r checkRun) string {
	texts := []string{r.Output.Title, r.Output.Summary}
	a := operation{action: "read what the check " + oneLine(r.Name) + " found", permission: "checks: read"}
	notes, err := list[annotation](ctx, c, a, fmt.Sprintf("check-runs/%d/annotations", r.ID), 1)
	if err != nil && !Withheld(err) {
		texts = append(texts, "(its notes on lines could not be read)")
	}
	for _, n := range notes[:min(len(notes), 20)] {
		texts = append(texts, fmt.Sprintf("%s:%d: %s", n.Path, n.Line, n.Message))
	}
	if r.App.Slug == "github-actions" { // whose jobs have the numbers of their checks
		log, err := c.logEnd(ctx, r.ID)
		if err != nil && !Withheld(err) {
			log = "(its log could not be read)"
		}
		texts = append(texts, log)
	}
	texts = slices.DeleteFunc(texts, func(text string) bool { return strings.TrimSpace(text) == "" })
	return code(strings.Join(texts, "\n"), maxComment)
}

// logEnd returns the end of a job's log, which lies on another host without our token.
func (c *Client) logEnd(ctx context.Context, job int64) (string, error) {
	a := operation{action: fmt.Sprintf("read the log of job %d", job), permission: "actions: read"}
	return withRetry(ctx, c, a, func(ctx context.Context) (string, error) {
		at, resp, err := c.api.Actions.GetWorkflowJobLogs(ctx, c.Owner, c.Repo, job, 1)
		if err != nil && resp != nil {
			return "", &Error{Kind: kindOf(resp.StatusCode, resp.Header, ""), Status: resp.StatusCode}
		}
		if err != nil {
			return "", err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
		if err != nil {
			return "", fmt.Errorf("write the request: %w", err)
		}
		log, err := c.withoutToken.Do(req)
		if err != nil {
			return "", err
		}
		defer log.Body.Close() //nolint:errcheck // read, not written
		if log.StatusCode != http.StatusOK {
			return "", &Error{Kind: NotFound, Status: log.StatusCode, Message: "the log is not there"}
		}
		end := &process.Tail{N: maxKept}
		_, err = io.Copy(end, io.LimitReader(log.Body, maxFetch))
		return code(upkeep.Relevant(end.String()), maxLog), err
	})
}

// NewCheck is a check to put on a commit, complete.
type NewCheck struct {
	Name       string
	Head       string
	Conclusion string // success, failure or neutral
	Title      string
	Summary    string // Markdown
	Notes      []Note
}

// Note is what a check says of a line.
type Note struct {
	Path    string
	Line    int
	Message string
}

// CreateCheck puts a check on a commit. Of two with one name GitHub shows the newer.
func (c *Client) CreateCheck(ctx context.Context, n NewCheck) error {
	output := &gh.CheckRunOutput{Title: &n.Title, Summary: &n.Summary}
	for _, note := range n.Notes {
		output.Annotations = append(output.Annotations, &gh.CheckRunAnnotation{
			Path:            &note.Path,
			StartLine:       &note.Line,
			EndLine:         &note.Line,
			Message:         &note.Message,
			AnnotationLevel: new("warning"),
		})
	}
	return send(ctx, c, operation{
		action: "write the check " + n.Name, permission: "checks: write",
		method: http.MethodPost, path: "check-runs",
		body: gh.CreateCheckRunOptions{
			Name:       n.Name,
			HeadSHA:    n.Head,
			Status:     new("completed"),
			Conclusion: &n.Conclusion,
			Output:     output,
		},
	})
}
