package action

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"

	"github.com/ralph-loop/ralph/internal/agent/attachment"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/entry/doctor"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// gatherer reads from GitHub what an event does not contain, and adds it to the request.
type gatherer struct {
	client  *github.Client
	env     environment
	log     *jobLog
	route   egress.Route
	request *request
}

// note adds a notice for the people who read about the run.
func (g *gatherer) note(what, hint string) {
	g.log.say(what)
	g.request.notices = append(g.request.notices, journal.Noted{What: what, Hint: hint})
}

// checkAsker asks for the permission of the asker, if it counts, and refuses the request without it.
func (g *gatherer) checkAsker(ctx context.Context) (known trigger.RequestFacts, refusal *trigger.Refusal, err error) {
	r := g.request
	if r.needsPermission() {
		if known.Permission, err = g.client.Permission(ctx, r.trigger.Asker().Login); err != nil {
			return known, nil, err
		}
	}
	return known, trigger.Accept(r.trigger, r.command, r.inputs.Rules, known), nil
}

// readRequest completes the event and makes the task of it. A refusal says why the request is not accepted.
func (g *gatherer) readRequest(ctx context.Context, known trigger.RequestFacts) (*trigger.Refusal, error) {
	r := g.request
	if err := g.readFacts(ctx, &known); err != nil {
		return nil, err
	}
	if refusal := trigger.Accept(r.trigger, r.command, r.inputs.Rules, known); refusal != nil {
		return refusal, nil
	}
	if err := g.readPages(ctx); err != nil {
		return nil, err
	}
	r.task = r.trigger.Task(r.command)
	return nil, nil
}

// readFacts reads until one fact refuses the request.
func (g *gatherer) readFacts(ctx context.Context, known *trigger.RequestFacts) error {
	r := g.request
	var err error
	if r.lacksText() {
		issue, _, err := g.client.IssuePage(ctx, r.trigger.Issue.Number)
		if err != nil {
			return err
		}
		r.trigger.Issue.Body = issue.Body
		r.trigger.Issue.HTML = issue.HTML
	}
	if r.trigger, err = g.client.Complete(ctx, r.trigger); err != nil {
		return err
	}
	if pull := &r.trigger.Pull; pull.Ours && pull.Author != "" { // the mark in its text can be anyone's
		if pull.Ours, err = g.client.Opened(ctx, pull.Author); err != nil {
			return err
		}
	}
	known.Edited, err = g.wasEditedSince(ctx)
	return err
}

// wasEditedSince reports whether an issue whose text the event does not contain was edited after
// the request. If GitHub does not tell the time of the request, the current text is used.
func (g *gatherer) wasEditedSince(ctx context.Context) (bool, error) {
	r := g.request
	named := r.onlyNumber && !r.trigger.IsOnPull() && g.env.job != 0
	if !named && !r.lacksText() {
		return false, nil
	}
	if named {
		began, err := g.client.JobBegan(ctx, g.env.job)
		if err != nil || began.IsZero() {
			return false, err
		}
		r.trigger.At = began
	}
	edited, err := g.client.LastEdited(ctx, r.trigger.Issue.Number)
	if github.Withheld(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return r.trigger.IsEditedAt(edited), nil
}

// readPages replaces the texts of an accepted request by what GitHub's page shows of them.
func (g *gatherer) readPages(ctx context.Context) error {
	r := g.request
	if !r.command.Verb.UsesAgent() {
		return nil
	}
	issue, err := g.client.ShowIssue(ctx, r.trigger.Issue)
	if err != nil {
		return err
	}
	review, err := g.client.Show(ctx, r.trigger.Review.Body)
	if err != nil {
		return err
	}
	words, err := g.client.Show(ctx, r.command.Words)
	if err != nil {
		return err
	}
	r.source = r.trigger.Issue.Body
	r.shown = issue.Addresses
	r.trigger.Issue.Body = issue.Text
	r.trigger.Review.Body = review.Text
	r.command.Words = words.Text
	for _, page := range []clean.Page{issue, review, words} {
		r.removed.Add(page.Removed)
	}
	return nil
}

// nothingToDo answers a request on a pull request without open threads and red checks.
const nothingToDo = "there is nothing to do here: no open thread was started by someone with write permission, " +
	"and no check is red. Say after `--` what you want"

// readDiscussion reads what people said. Without it an issue is still a task, a pull request is not.
func (g *gatherer) readDiscussion(ctx context.Context) error {
	r := g.request
	if !r.command.Verb.UsesAgent() || r.task.Number == 0 || r.task.Update {
		return nil
	}
	found, err := g.client.Context(ctx, r.trigger, r.inputs.Rules)
	if err != nil && r.trigger.IsOnPull() {
		return err
	}
	if err != nil {
		g.note("cannot read the comments, so none is used: "+err.Error(), fault.Hint(err))
	}
	if counts := found.Counts.String(); counts != "" {
		hint := ""
		if found.Counts[trigger.NoPermission] > 0 {
			hint = "quote a comment in one of your own to include it"
		}
		g.note(counts, hint)
	}
	if r.trigger.IsOnPull() {
		g.readPullDiscussion(ctx, &found)
	}
	task, hasWork := r.trigger.AddContext(r.task, r.command, found)
	r.task = task
	startsWork := r.command.Verb == trigger.Run || r.command.Verb == trigger.Plan
	if startsWork && !hasWork {
		r.command = trigger.RefusedCommand("", nothingToDo)
	}
	return g.fetchAttached(ctx)
}

// readPullDiscussion adds what only a pull request has, and reports a missing permission.
func (g *gatherer) readPullDiscussion(ctx context.Context, found *trigger.TaskContext) {
	r := g.request
	if r.trigger.IsCI() {
		found.Failing = r.redChecks
		return
	}
	var err error
	if found.OpenThreads, err = g.client.OpenThreads(ctx, r.task.Number); err != nil {
		g.note("could not read which threads are open, so all of them count: "+err.Error(), fault.Hint(err))
		found.OpenThreads = map[int64]bool{}
		for _, comment := range found.Comments {
			found.OpenThreads[comment.Thread.ID] = true
		}
	}
	if found.Failing, err = g.client.Failing(ctx, r.trigger.Pull.HeadSHA); err != nil {
		g.note("the checks of this pull request could not be read: "+err.Error(), fault.Hint(err))
	}
}

// fetchAttached fetches the issue's attachments. Of a text that was not edited since, GitHub gives addresses that work
// without a token.
func (g *gatherer) fetchAttached(ctx context.Context) error {
	r := g.request
	if !r.trigger.Issue.Attached || r.trigger.IsOnPull() {
		return nil
	}
	issue, page, err := g.client.IssuePage(ctx, r.task.Number)
	if err != nil {
		g.note("could not read the issue's attachments: "+err.Error(), fault.Hint(err))
		return nil
	}
	if issue.Body == r.source {
		r.shown = page.Addresses
	}
	server, err := url.Parse(g.env.serverURL)
	if err != nil {
		return err
	}
	port := cmp.Or(server.Port(), map[string]string{"http": "80"}[server.Scheme], "443")
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return err
	}
	route := g.route
	route.Private = append(slices.Clone(route.Private), egress.Name{Host: server.Hostname(), Port: uint16(number)})
	r.attached = attachment.Fetcher{Server: server, Transport: route.Public()}.All(ctx, r.shown)
	for _, file := range r.attached {
		if file.Why != "" {
			g.note("not fetched: the attachment "+view.Code(file.Label, 100)+": "+file.Why, "")
		}
	}
	return nil
}

// checkPush checks whether the work can be pushed, and reports all problems at once.
func (g *gatherer) checkPush(ctx context.Context, base, branch string) error {
	look := doctor.GitHub{Client: g.client.Opener(), Clone: g.env.clone(), Base: base, Branch: branch}
	if err := look.Client.MayPush(ctx, look.Clone); !errors.Is(err, github.Forbidden) {
		return nil
	}
	var gaps, remedies []string
	for _, f := range look.Look(ctx) {
		if f.Gap != "" {
			gaps = append(gaps, f.What+": "+f.Gap)
			remedies = append(remedies, f.Remedy)
		}
	}
	return fault.Usage("no work started: "+numberedList(gaps), numberedList(remedies), nil)
}
