package action

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/hub/upkeep"
	"github.com/ralph-loop/ralph/internal/show/view"
	"github.com/ralph-loop/ralph/templates"
)

// answers answers the asker: with reactions, and with comments beside the progress comment.
type answers struct {
	client  *github.Client
	log     *jobLog
	request *request
	job     int64
	failed  bool // a part of the report of the run's end was not delivered
}

// declinedError is why a request that was accepted starts no work.
type declinedError struct{ text string }

func (d declinedError) Error() string { return d.text }

// note notes how a part of the report went. After an error, Finish reports the end of the run again.
func (a *answers) note(err error) {
	if err != nil {
		a.log.sayError(err)
		a.failed = true
	}
}

// unlabel removes the label that made the request, so that it can be set again.
func (a *answers) unlabel(ctx context.Context) {
	t := a.request.trigger
	if t.Label == "" {
		return
	}
	a.log.sayError(a.client.RemoveLabel(ctx, t.Issue.Number, t.Label))
}

// react adds a reaction to the request. An error is only logged.
func (a *answers) react(ctx context.Context, content string) {
	t := a.request.trigger
	if t.Issue.Number == 0 || t.IsCI() {
		return
	}
	a.log.sayError(a.client.React(ctx, t, content))
}

func (a *answers) refuse(ctx context.Context, refusal trigger.Refusal) {
	a.log.say("not started: " + refusal.Why)
	if !refusal.Silent {
		a.react(ctx, github.Confused)
	}
}

func (a *answers) decline(ctx context.Context, declined declinedError) error {
	a.log.say("not started: " + declined.text)
	if a.request.trigger.IsCI() { // no person waits for an answer
		return nil
	}
	a.react(ctx, github.Confused)
	return a.answer(ctx, declined.text)
}

// fail answers with the error, and returns it.
func (a *answers) fail(ctx context.Context, err error) error {
	a.react(ctx, github.Confused)
	return errors.Join(err, a.answer(ctx, a.log.errorText("ralph could not do that", err)))
}

// help answers /ralph help, and what was not understood or cannot be asked for.
func (a *answers) help(ctx context.Context) error {
	body := templates.Text("comment/help.md")
	if why := view.CommandProblem(a.request.command); why != "" {
		body = why + " Nothing was started.\n\n" + body
	}
	return a.answer(ctx, body)
}

// answer writes a comment in the thread of the request, or on the issue. It hides secrets.
func (a *answers) answer(ctx context.Context, text string) error {
	text = a.log.clean(text)
	if !strings.Contains(text, trigger.Marker) { // by which we know it again, and do not listen to ourselves
		text += "\n\n" + trigger.Marker + "answer -->"
	}
	number := a.request.task.Number
	if number == 0 { // there is no place but the log
		a.log.say(text)
		return nil
	}
	var err error
	if thread := a.request.trigger.Comment.Thread.ID; thread != 0 {
		_, err = a.client.Reply(ctx, number, thread, text)
	} else {
		_, err = a.client.CreateComment(ctx, number, text)
	}
	if err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}

// answerOnce is an answer that begins with a mark, unless it was given already.
func (a *answers) answerOnce(ctx context.Context, mark, text string) error {
	text = mark + "\n" + text
	number := a.request.task.Number
	if thread := a.request.trigger.Comment.Thread.ID; thread != 0 {
		reply := upkeep.Reply{Thread: thread, Mark: mark, Text: a.log.clean(text)}
		return a.client.Answer(ctx, number, a.request.inputs.Rules, []upkeep.Reply{reply})
	}
	if number != 0 {
		if _, found, err := a.client.FindComment(ctx, number, mark); found || err != nil {
			return err
		}
	}
	return a.answer(ctx, text)
}

// runEnded shows the asker how the run ended.
func (a *answers) runEnded(ctx context.Context, run journal.Run) {
	a.askQuestion(ctx, run)
	if run.IsCompleted() {
		a.react(ctx, github.Rocket)
	} else {
		a.react(ctx, github.Confused)
	}
}

// askQuestion posts the agent's question once, as a new comment: GitHub sends no notification for an edited one.
func (a *answers) askQuestion(ctx context.Context, run journal.Run) {
	stop := run.Stop
	if stop == nil || stop.Reason != policy.NeedsInput || verdict.NeedsApproval(run) {
		return
	}
	digest := sha256.Sum256([]byte(stop.Why))
	mark := fmt.Sprintf("%sasked %d %x -->", trigger.Marker, a.job, digest[:6])
	text := "**ralph asks:** " + a.log.quote(stop.Why) + "\n\n**Next:** " + view.Next(run) + "."
	a.note(a.answerOnce(ctx, mark, text))
}

// answerThreads answers the run's review threads, also if the job was cancelled.
func (a *answers) answerThreads(ctx context.Context, run journal.Run) {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastWordsTime)
		defer cancel()
	}
	replies := upkeep.Replies(run, view.Headline(run))
	for i := range replies {
		replies[i].Text = a.log.clean(replies[i].Text)
	}
	a.note(a.client.Answer(ctx, run.Task.Number, a.request.inputs.Rules, replies))
}
