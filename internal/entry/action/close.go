package action

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/run/job"
	"github.com/ralph-loop/ralph/internal/show/result"
	"github.com/ralph-loop/ralph/internal/show/view"
)

const lastWordsTime = 5 * time.Second

// reportEnd says on GitHub how it ended, no matter what happened before.
func (h *handler) reportEnd(ctx context.Context, outcome job.Outcome, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWordsTime)
	defer cancel()
	switch {
	case outcome.Run.Stop != nil: // on record
		h.showAll(ctx, view.Of(outcome.Run)) // again only what did not come to people
	case err == nil:
	case outcome.Run.ID == "":
		h.commentNotBegun(ctx, err)
	default:
		outcome.Run = h.brokenRun(outcome, err)
		h.showAll(ctx, view.Of(outcome.Run))
	}
	h.answerAsker(ctx, outcome.Run)
	h.setOutputs(outcome)
}

func (h *handler) answerAsker(ctx context.Context, run journal.Run) {
	h.askQuestion(ctx, run)
	if run.IsCompleted() {
		h.react(ctx, github.Rocket)
	} else {
		h.react(ctx, github.Confused)
	}
}

// askQuestion posts the agent's question once, as a new comment: GitHub sends no notification
// for an edited one.
func (h *handler) askQuestion(ctx context.Context, run journal.Run) {
	stop := run.Stop
	if stop == nil || stop.Reason != policy.NeedsInput || verdict.NeedsApproval(run) {
		return
	}
	digest := sha256.Sum256([]byte(stop.Why))
	mark := fmt.Sprintf("%sasked %d %x -->", trigger.Marker, h.env.Job, digest[:6])
	text := "**ralph asks:** " + h.quoteForeign(stop.Why) + "\n\n**Next:** " + view.Next(run) + "."
	h.noteReport(h.answerOnce(ctx, mark, text))
}

// commentNotBegun tells people on the issue why no work began.
func (h *handler) commentNotBegun(ctx context.Context, err error) {
	if h.host.issue == 0 {
		return // the log has said it
	}
	text := h.errorText(notBegun, err)
	if h.host.replaceComment(ctx, text) != nil { // its answer may be lost: then the comment is there
		h.sayError(h.host.replaceComment(ctx, text))
	}
}

// reportError shows an error that is in no run's record, in the job's log and summary.
func (h *event) reportError(run string, err error) {
	if h.Plain {
		return
	}
	title := notBegun
	if run != "" {
		title = "ralph failed"
	}
	h.annotate(view.Annotation{Title: title, Text: strings.ReplaceAll(fault.Told(err), "\n", "; ")})
	if run != "" {
		return
	}
	if err := h.writeSummary(h.errorText(notBegun, err) + "\n"); err != nil {
		h.say(err.Error())
	}
}

const notBegun = "ralph could not begin"

// quoteForeign removes hidden marks from foreign text, as ralph finds its own comments by them.
func (h *event) quoteForeign(text string) string {
	return strings.ReplaceAll(clean.Lines(h.secrets.String(text)), "<!--", "<! --")
}

func (h *event) errorText(what string, err error) string {
	text := "**" + what + ":** " + h.quoteForeign(err.Error())
	if hint := fault.Hint(err); hint != "" {
		text += "\n\n**Next:** " + h.quoteForeign(hint)
	}
	return text
}

// brokenRun returns a run whose end could not be recorded: without it the comment would say that
// an agent is at work.
func (h *event) brokenRun(outcome job.Outcome, err error) journal.Run {
	run := outcome.Run
	why := strings.ReplaceAll(err.Error(), h.env.Workspace+string(filepath.Separator), "")
	run.Stop = &journal.RunStopped{Reason: policy.FatalError, Why: why}
	hint := cmp.Or(fault.Hint(err), "read the job's log, and fix the problem of its machine first")
	run.Notes = append(slices.Clone(run.Notes), journal.Noted{What: hint})
	work := outcome.Home.File("work")
	if _, missing := os.Stat(work); missing == nil {
		run.Notes = append(run.Notes, journal.Noted{
			What: "work that was not pushed is saved in " + h.inWorkspace(work) + " of the job's workspace",
		})
	}
	return run
}

func (h *handler) showAll(ctx context.Context, board view.Texts) {
	for _, screen := range h.screens() {
		h.noteReport(screen(ctx, board))
	}
}

// noteReport notes how a part of the report went. After an error, Finish reports the end of the run again.
func (h *handler) noteReport(err error) {
	if err != nil {
		h.sayError(err)
		h.reportFailed = true
	}
}

// setOutputs writes the outputs for later steps of the job. They hold no token.
func (h *handler) setOutputs(outcome job.Outcome) {
	run := outcome.Run
	result := result.Of(run)
	if outcome.Home.ID != "" {
		result.JournalPath = h.inWorkspace(outcome.Home.Journal())
	}
	result.EvidencePath = h.inWorkspace(job.ExistingFile(outcome.Home, job.EvidenceName))
	result.ReportPath = h.inWorkspace(job.ExistingFile(outcome.Home, workspace.PageFile))
	resultJSON, err := json.Marshal(result)
	if err != nil {
		h.say(fmt.Sprintf("write the result: %v", err))
	}
	values := [][2]string{
		{"status", string(result.Status)},
		{"stop-reason", string(result.StopReason)},
		{"run-id", run.ID},
		{"issue", strconv.Itoa(h.task.Number)},
		{"branch", run.Branch},
		{"head-sha", run.Head},
		{"iterations", strconv.Itoa(len(run.Iterations))},
		{"cost-usd", dollars(result.TotalCostUSD)},
		{"input-tokens", strconv.FormatInt(run.Spent.Usage.Input, 10)},
		{"output-tokens", strconv.FormatInt(run.Spent.Usage.Output, 10)},
		{"stories-passed", strconv.Itoa(run.PassedStories())},
		{"stories-total", strconv.Itoa(len(run.Plan.UserStories))},
		{"resumable", strconv.FormatBool(run.ID != "" && !run.IsCompleted())},
		{"journal-path", result.JournalPath},
		{"evidence-path", result.EvidencePath},
		{"report-path", result.ReportPath},
		{"cache-key", h.sandbox.SavedCaches()},
		// A comment that was created at a second try is not on record.
		{"comment-url", cmp.Or(h.host.url(), cmp.Or(run.Published.Comment, &journal.CommentPosted{}).URL)},
		{"result", string(resultJSON)},
	}
	if run.Published.Pull != nil {
		values = append(values,
			[2]string{"pr-number", strconv.Itoa(run.Published.Pull.Number)},
			[2]string{"pr-url", run.Published.Pull.URL})
	}
	if run.Published.Packed != nil {
		values = append(values, [2]string{"artifact-path", run.Published.Packed.Path})
	}
	h.writeOutputs(values)
}

// dollars returns an amount for a step that reads it; empty where it is unknown.
func dollars(amount *float64) string {
	if amount == nil {
		return ""
	}
	return strconv.FormatFloat(*amount, 'f', 4, 64)
}

// inWorkspace makes a path relative: later steps do not see the paths of a container.
func (h *event) inWorkspace(path string) string {
	if rel, err := filepath.Rel(h.env.Workspace, path); err == nil && filepath.IsAbs(path) {
		return filepath.ToSlash(rel)
	}
	return path
}

// writeOutputs recovers from a panic of the toolkit, whose file may not be writable.
func (h *event) writeOutputs(values [][2]string) {
	defer func() {
		if problem := recover(); problem != nil {
			h.say(fmt.Sprintf("the job's outputs could not be written: %v", problem))
		}
	}()
	if h.Getenv("GITHUB_OUTPUT") == "" {
		return // the toolkit would print them as commands that runners take no more
	}
	for _, value := range values {
		h.toolkit.SetOutput(value[0], strings.ReplaceAll(h.secrets.String(value[1]), "\r", ""))
	}
}

// Exit returns the exit code of the job's step: a stopped run fails the job only if the workflow wants that.
func Exit(outcome job.Outcome, failOn config.FailOn) int {
	if outcome.Run.Stop == nil {
		return fault.ExitDone
	}
	status := outcome.Run.Stop.Reason.Status()
	switch {
	case failOn == config.FailOnNever:
		return fault.ExitDone
	case failOn != config.FailOnStopped && status == policy.StatusStopped:
		return fault.ExitDone
	}
	return status.ExitCode(true)
}
