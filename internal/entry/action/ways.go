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
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/show/view"
)

func (h *event) addInputs() {
	issue := h.inputs.Issue
	h.trigger.Inputs = trigger.Inputs{Prompt: h.inputs.Prompt, Issue: issue}
	h.onlyNumber = h.trigger.NeedsInputs() && issue != 0 && issue != h.trigger.Issue.Number
	if h.onlyNumber {
		h.trigger.Issue = trigger.Issue{}
	}
	if trigger.CanStartWork(h.trigger.Event) {
		return
	}
	// What was said before the job began to look was there when it was asked.
	h.trigger.At = h.Now()
	if h.trigger.Repo.Name == "" {
		h.trigger.Repo.Owner, h.trigger.Repo.Name, _ = strings.Cut(h.env.Repository, "/")
	}
	if h.trigger.Sender.Login == "" {
		actor := h.Getenv("GITHUB_ACTOR")
		h.trigger.Sender = trigger.Sender{Login: actor, IsBot: strings.HasSuffix(actor, "[bot]")}
	}
}

// hasButtons reports whether boxes in the comment start jobs: the workflow's file lists edits of comments, or the
// server relays them.
func (h *handler) hasButtons(ctx context.Context) bool {
	if h.relayed.ID != "" {
		return h.relayed.Buttons
	}
	file, _, _ := strings.Cut(h.Getenv("GITHUB_WORKFLOW_REF"), "@")
	text, found, err := h.client.File(ctx, "", strings.TrimPrefix(file, h.env.Repository+"/"))
	return err == nil && found && config.StartsOnEdits(text)
}

// readPages replaces the texts of an accepted request by what GitHub's page shows of them.
func (h *handler) readPages(ctx context.Context) error {
	if !h.command.Verb.UsesAgent() {
		return nil
	}
	issue, err := h.client.ShowIssue(ctx, h.trigger.Issue)
	if err != nil {
		return err
	}
	review, err := h.client.Show(ctx, h.trigger.Review.Body)
	if err != nil {
		return err
	}
	words, err := h.client.Show(ctx, h.command.Words)
	if err != nil {
		return err
	}
	h.source = h.trigger.Issue.Body
	h.shown = issue.Addresses
	h.trigger.Issue.Body = issue.Text
	h.trigger.Review.Body = review.Text
	h.command.Words = words.Text
	for _, page := range []clean.Page{issue, review, words} {
		h.removed.Add(page.Removed)
	}
	return nil
}

// nothingToDo answers a request on a pull request without open threads and red checks.
const nothingToDo = "there is nothing to do here: no open thread was started by someone with write permission, " +
	"and no check is red. Say after `--` what you want"

// readDiscussion reads what people said. Without it an issue is still a task, a pull request is not.
func (h *handler) readDiscussion(ctx context.Context) error {
	if !h.command.Verb.UsesAgent() || h.task.Number == 0 || h.task.Update {
		return nil
	}
	found, err := h.client.Context(ctx, h.trigger, h.inputs.Rules)
	if err != nil && h.trigger.IsOnPull() {
		return err
	}
	if err != nil {
		h.addNotice("cannot read the comments, so none is used: "+err.Error(), fault.Hint(err))
	}
	if counts := found.Counts.String(); counts != "" {
		hint := ""
		if found.Counts[trigger.NoPermission] > 0 {
			hint = "a 👍 from someone with write permission includes a comment"
		}
		h.addNotice(counts, hint)
	}
	if h.trigger.IsOnPull() {
		h.readPullDiscussion(ctx, &found)
	}
	task, hasWork := h.trigger.AddContext(h.task, h.command, found)
	h.task = task
	startsWork := h.command.Verb == trigger.Run || h.command.Verb == trigger.Plan
	if startsWork && !hasWork {
		h.command = trigger.RefusedCommand("", nothingToDo)
	}
	return h.fetchAttached(ctx)
}

// fetchAttached fetches the issue's attachments. Of a text that was not edited since, GitHub gives addresses that work
// without a token.
func (h *handler) fetchAttached(ctx context.Context) error {
	if !h.trigger.Issue.Attached || h.trigger.IsOnPull() {
		return nil
	}
	issue, page, err := h.client.IssuePage(ctx, h.task.Number)
	if err != nil {
		h.addNotice("could not read the issue's attachments: "+err.Error(), fault.Hint(err))
		return nil
	}
	if issue.Body == h.source {
		h.shown = page.Addresses
	}
	server, err := url.Parse(h.env.ServerURL)
	if err != nil {
		return err
	}
	port := cmp.Or(server.Port(), map[string]string{"http": "80"}[server.Scheme], "443")
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return err
	}
	route := h.route
	route.Private = append(slices.Clone(route.Private), egress.Name{Host: server.Hostname(), Port: uint16(number)})
	h.attached = attachment.Fetcher{Server: server, Transport: route.Public()}.All(ctx, h.shown)
	for _, file := range h.attached {
		if file.Why != "" {
			h.addNotice("not fetched: the attachment "+view.Code(file.Label, 100)+": "+file.Why, "")
		}
	}
	return nil
}

// leaveOut leaves out attachments that people did not see with the plan.
func (h *handler) leaveOut(known []string) {
	kept := attachment.Known(h.attached, known)
	for i, file := range kept {
		if file.Why != h.attached[i].Why {
			h.say("left out: the attachment " + view.Code(file.Label, 100) + ": " + file.Why)
		}
	}
	h.attached = kept
}

// readPullDiscussion adds what only a pull request has, and reports a missing permission.
func (h *handler) readPullDiscussion(ctx context.Context, found *trigger.TaskContext) {
	if h.trigger.IsCI() {
		found.Failing = h.redChecks
		return
	}
	var err error
	if found.OpenThreads, err = h.client.OpenThreads(ctx, h.task.Number); err != nil {
		h.addNotice("could not read which threads are open, so all of them count: "+err.Error(), fault.Hint(err))
		found.OpenThreads = map[int64]bool{}
		for _, comment := range found.Comments {
			found.OpenThreads[comment.Thread.ID] = true
		}
	}
	if found.Failing, err = h.client.Failing(ctx, h.trigger.Pull.HeadSHA); err != nil {
		h.addNotice("the checks of this pull request could not be read: "+err.Error(), fault.Hint(err))
	}
}

func (h *event) addNotice(what, hint string) {
	h.say(what)
	h.notices = append(h.notices, journal.Noted{What: what, Hint: hint})
}
