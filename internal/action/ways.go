package action

import (
	"cmp"
	"context"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/attachment"
	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/trigger"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/view"
)

// given adds the workflow's inputs, and who began the job.
func (v *visit) given() error {
	prompt, err := v.prompt()
	if err != nil {
		return err
	}
	v.trigger.Inputs = trigger.Inputs{Prompt: prompt, Issue: v.inputs.Issue}
	if v.named = v.trigger.NeedsInputs() && v.inputs.Issue != 0 && v.inputs.Issue != v.trigger.Issue.Number; v.named {
		v.trigger.Issue = trigger.Issue{}
	}
	if trigger.CanStartWork(v.trigger.Event) {
		return nil
	}
	// What was said before the job began to look was there when it was asked.
	v.trigger.At = v.Now()
	if v.trigger.Repo.Name == "" {
		v.trigger.Repo.Owner, v.trigger.Repo.Name, _ = strings.Cut(v.env.Repository, "/")
	}
	if v.trigger.Sender.Login == "" {
		v.trigger.Sender = trigger.Sender{Login: v.env.Actor, IsBot: strings.HasSuffix(v.env.Actor, "[bot]")}
	}
	return nil
}

// maxPrompt is the same as for an issue.
const maxPrompt = 60_000

// prompt is cleaned: a workflow may copy the words of others into it.
func (v *visit) prompt() (string, error) {
	text := v.inputs.Prompt
	if v.inputs.PromptFile != "" {
		said, err := v.promptFile()
		if err != nil {
			return "", fault.Usage("cannot read the prompt in "+v.inputs.PromptFile,
				"give the path of a file in the workspace, and check out the repository in an earlier step", err)
		}
		text = said
	}
	text, removed := clean.ForAgent(text, maxPrompt)
	if removed.IsAny() {
		v.asides = append(v.asides, journal.Noted{What: "removed from the prompt: " + removed.String()})
	}
	return strings.TrimSpace(text), nil
}

func (v *visit) promptFile() (string, error) {
	root, err := untrusted.OpenRoot(v.env.Workspace)
	if err != nil {
		return "", err
	}
	defer root.Close() //nolint:errcheck // read, not written
	file, err := root.Open(v.inputs.PromptFile)
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // read, not written
	text, err := io.ReadAll(io.LimitReader(file, 4*maxPrompt))
	return string(text), err
}

// nothing is said where a pull request was named and there is nothing to do.
const nothing = "there is nothing to do here: no open thread was started by someone with write permission, and no check is red. Say after `--` what you want"

// gather reads what people said. Without it an issue is still a task, a pull request is not.
func (v *visit) gather(ctx context.Context) error {
	if !v.command.Verb.UsesAgent() || v.task.Number == 0 || v.task.Update {
		return nil
	}
	found, err := v.client.Context(ctx, v.trigger, v.inputs.Rules)
	if err != nil && v.trigger.IsOnPull() {
		return err
	}
	if err != nil {
		v.aside("cannot read the comments, so none is used: "+err.Error(), fault.Hint(err))
	}
	if said := found.Counts.String(); said != "" {
		hint := ""
		if found.Counts[trigger.NoPermission] > 0 {
			hint = "a 👍 from someone with write permission includes a comment"
		}
		v.aside(said, hint)
	}
	if v.trigger.IsOnPull() {
		v.gatherPull(ctx, &found)
	}
	task, something := v.trigger.AddContext(v.task, v.command, found)
	if v.task = task; !something && (v.command.Verb == trigger.Run || v.command.Verb == trigger.Plan) {
		v.command = trigger.RefusedCommand("", nothing)
	}
	return v.fetchAttached(ctx)
}

// fetchAttached fetches the issue's attachments, unless it was edited since the request.
func (v *visit) fetchAttached(ctx context.Context) error {
	if !v.trigger.Issue.Attached || v.trigger.IsOnPull() {
		return nil
	}
	page, err := v.client.IssuePage(ctx, v.task.Number)
	if err != nil {
		v.aside("could not read the issue's attachments: "+err.Error(), fault.Hint(err))
		return nil
	}
	edited, err := v.client.LastEdited(ctx, v.task.Number)
	if err != nil && !github.Withheld(err) || edited.After(v.trigger.At) && !v.trigger.At.IsZero() {
		v.aside("the issue was edited meanwhile, so its attachments were not fetched", "ask again")
		return nil
	}
	server, err := url.Parse(v.env.ServerURL)
	if err != nil {
		return err
	}
	route, err := v.network().Route()
	if err != nil {
		return err
	}
	port := cmp.Or(server.Port(), map[string]string{"http": "80"}[server.Scheme], "443")
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return err
	}
	route.Private = append(route.Private, egress.Name{Host: server.Hostname(), Port: uint16(number)})
	v.attached = attachment.Fetcher{Server: server, Transport: route.Public()}.All(ctx, page)
	for _, file := range v.attached {
		if file.Why != "" {
			v.aside("not fetched: the attachment "+view.Code(file.Label, 100)+": "+file.Why, "")
		}
	}
	return nil
}

// gatherPull adds what only a pull request has, and reports a missing permission.
func (v *visit) gatherPull(ctx context.Context, found *trigger.TaskContext) {
	if v.trigger.IsCI() {
		for _, c := range v.red {
			found.Failing = append(found.Failing, trigger.FailingCheck{Name: c.Name, Summary: c.Says})
		}
		return
	}
	var err error
	if found.OpenThreads, err = v.client.OpenThreads(ctx, v.task.Number); err != nil {
		v.aside("could not read which threads are open, so all of them count: "+err.Error(), fault.Hint(err))
		found.OpenThreads = map[int64]bool{}
		for _, h := range found.Comments {
			found.OpenThreads[h.Thread.ID] = true
		}
	}
	if found.Failing, err = v.client.Failing(ctx, v.trigger.Pull.HeadSHA); err != nil {
		v.aside("the checks of this pull request could not be read: "+err.Error(), fault.Hint(err))
	}
}

func (v *visit) aside(what, hint string) {
	v.say(what)
	v.asides = append(v.asides, journal.Noted{What: what, Hint: hint})
}
