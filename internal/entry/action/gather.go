package action

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/attachment"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/entry/doctor"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// reader reads from GitHub what an event does not contain, and adds it to the request.
type reader struct {
	client  *github.Client
	env     environment
	log     *jobLog
	route   egress.Route
	request *request
}

// note adds a notice for the people who read about the run.
func (d *reader) note(what, hint string) {
	d.log.say(what)
	d.request.notices = append(d.request.notices, journal.Noted{What: what, Hint: hint})
}

// checkAsker asks for the permission of the asker, if it counts, and refuses the request without it.
func (d *reader) checkAsker(ctx context.Context) (trigger.Permission, *trigger.Refusal, error) {
	r := d.request
	var known trigger.RequestFacts
	if r.needsPermission() {
		var err error
		if known.Permission, err = d.client.Permission(ctx, r.trigger.Asker().Login); err != nil {
			return "", nil, err
		}
	}
	return known.Permission, trigger.Accept(r.trigger, r.command, r.inputs.Rules, known), nil
}

// readRequest completes the event and makes the task of it. A refusal says why the request is not accepted.
func (d *reader) readRequest(ctx context.Context, permission trigger.Permission) (*trigger.Refusal, error) {
	r := d.request
	known := trigger.RequestFacts{Permission: permission}
	if err := d.readFacts(ctx, &known); err != nil {
		return nil, err
	}
	if refusal := trigger.Accept(r.trigger, r.command, r.inputs.Rules, known); refusal != nil {
		return refusal, nil
	}
	if err := d.readPages(ctx); err != nil {
		return nil, err
	}
	r.task = r.trigger.Task(r.command)
	return nil, nil
}

// readFacts reads until one fact refuses the request.
func (d *reader) readFacts(ctx context.Context, known *trigger.RequestFacts) error {
	r := d.request
	var err error
	if known.Forged, err = d.isForgedComment(ctx); known.Forged || err != nil {
		return err
	}
	if r.relayed.Digest != "" { // the text was too long for the server to send
		issue, same, err := d.client.RelayedText(ctx, r.relayed)
		known.Edited = !same
		if err != nil || known.Edited {
			return err
		}
		r.trigger.Issue.Body = issue.Body
		r.trigger.Issue.HTML = issue.HTML
	}
	if r.trigger, err = d.client.Complete(ctx, r.trigger); err != nil {
		return err
	}
	if pull := &r.trigger.Pull; pull.Ours && pull.Author != "" { // the mark in its text can be anyone's
		if pull.Ours, err = d.client.Opened(ctx, pull.Author); err != nil {
			return err
		}
	}
	known.Edited, err = d.wasEditedSince(ctx)
	return err
}

// isForgedComment: anybody can write a comment that looks like ours.
func (d *reader) isForgedComment(ctx context.Context) (bool, error) {
	c := d.request.trigger.Comment
	if c.Pressed == "" || d.request.trigger.Action != "edited" {
		return false, nil
	}
	wrote, err := d.client.Wrote(ctx, c.Author)
	if err != nil {
		return false, err
	}
	return !wrote, nil
}

// wasEditedSince reports whether an issue that was named by its number was edited after
// the request: the event does not contain its text. If GitHub does not tell the time of
// the request, the current text is used.
func (d *reader) wasEditedSince(ctx context.Context) (bool, error) {
	r := d.request
	if !r.onlyNumber || r.trigger.IsOnPull() || d.env.job == 0 {
		return false, nil
	}
	began, err := d.client.JobBegan(ctx, d.env.job)
	if err != nil || began.IsZero() {
		return false, err
	}
	r.trigger.At = began
	edited, err := d.client.LastEdited(ctx, r.trigger.Issue.Number)
	if github.Withheld(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return r.trigger.IsEditedAt(edited), nil
}

// readPages replaces the texts of an accepted request by what GitHub's page shows of them.
func (d *reader) readPages(ctx context.Context) error {
	r := d.request
	if !r.command.Verb.UsesAgent() {
		return nil
	}
	issue, err := d.client.ShowIssue(ctx, r.trigger.Issue)
	if err != nil {
		return err
	}
	review, err := d.client.Show(ctx, r.trigger.Review.Body)
	if err != nil {
		return err
	}
	words, err := d.client.Show(ctx, r.command.Words)
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
func (d *reader) readDiscussion(ctx context.Context) error {
	r := d.request
	if !r.command.Verb.UsesAgent() || r.task.Number == 0 || r.task.Update {
		return nil
	}
	found, err := d.client.Context(ctx, r.trigger, r.inputs.Rules)
	if err != nil && r.trigger.IsOnPull() {
		return err
	}
	if err != nil {
		d.note("cannot read the comments, so none is used: "+err.Error(), fault.Hint(err))
	}
	if counts := found.Counts.String(); counts != "" {
		hint := ""
		if found.Counts[trigger.NoPermission] > 0 {
			hint = "a 👍 from someone with write permission includes a comment"
		}
		d.note(counts, hint)
	}
	if r.trigger.IsOnPull() {
		d.readPullDiscussion(ctx, &found)
	}
	task, hasWork := r.trigger.AddContext(r.task, r.command, found)
	r.task = task
	startsWork := r.command.Verb == trigger.Run || r.command.Verb == trigger.Plan
	if startsWork && !hasWork {
		r.command = trigger.RefusedCommand("", nothingToDo)
	}
	return d.fetchAttached(ctx)
}

// readPullDiscussion adds what only a pull request has, and reports a missing permission.
func (d *reader) readPullDiscussion(ctx context.Context, found *trigger.TaskContext) {
	r := d.request
	if r.trigger.IsCI() {
		found.Failing = r.redChecks
		return
	}
	var err error
	if found.OpenThreads, err = d.client.OpenThreads(ctx, r.task.Number); err != nil {
		d.note("could not read which threads are open, so all of them count: "+err.Error(), fault.Hint(err))
		found.OpenThreads = map[int64]bool{}
		for _, comment := range found.Comments {
			found.OpenThreads[comment.Thread.ID] = true
		}
	}
	if found.Failing, err = d.client.Failing(ctx, r.trigger.Pull.HeadSHA); err != nil {
		d.note("the checks of this pull request could not be read: "+err.Error(), fault.Hint(err))
	}
}

// fetchAttached fetches the issue's attachments. Of a text that was not edited since, GitHub gives addresses that work
// without a token.
func (d *reader) fetchAttached(ctx context.Context) error {
	r := d.request
	if !r.trigger.Issue.Attached || r.trigger.IsOnPull() {
		return nil
	}
	issue, page, err := d.client.IssuePage(ctx, r.task.Number)
	if err != nil {
		d.note("could not read the issue's attachments: "+err.Error(), fault.Hint(err))
		return nil
	}
	if issue.Body == r.source {
		r.shown = page.Addresses
	}
	server, err := url.Parse(d.env.serverURL)
	if err != nil {
		return err
	}
	port := cmp.Or(server.Port(), map[string]string{"http": "80"}[server.Scheme], "443")
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return err
	}
	route := d.route
	route.Private = append(slices.Clone(route.Private), egress.Name{Host: server.Hostname(), Port: uint16(number)})
	r.attached = attachment.Fetcher{Server: server, Transport: route.Public()}.All(ctx, r.shown)
	for _, file := range r.attached {
		if file.Why != "" {
			d.note("not fetched: the attachment "+view.Code(file.Label, 100)+": "+file.Why, "")
		}
	}
	return nil
}

// hasButtons reports whether boxes in the comment start jobs: the workflow's file lists edits of comments, or the
// server relays them.
func (d *reader) hasButtons(ctx context.Context) bool {
	if d.request.relayed.ID != "" {
		return d.request.relayed.Buttons
	}
	file, _, _ := strings.Cut(d.env.get("GITHUB_WORKFLOW_REF"), "@")
	text, found, err := d.client.File(ctx, "", strings.TrimPrefix(file, d.env.repository+"/"))
	return err == nil && found && config.StartsOnEdits(text)
}

// checkPush checks whether the work can be pushed, and reports all problems at once.
func (d *reader) checkPush(ctx context.Context, base, branch string) error {
	look := doctor.GitHub{Client: d.client.Opener(), Clone: d.env.clone(), Base: base, Branch: branch}
	if !look.Push(ctx).Stops {
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
