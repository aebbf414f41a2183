package action

import (
	"cmp"
	"context"
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
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/run/job"
	"github.com/ralph-loop/ralph/internal/run/publish"
	"github.com/ralph-loop/ralph/internal/show/result"
	"github.com/ralph-loop/ralph/internal/show/view"
)

const lastWordsTime = 5 * time.Second

// report shows people how a run goes and ends: on GitHub, and in the job's summary and outputs.
type report struct {
	env     environment
	log     *jobLog
	host    *branchHost
	answers *answers
}

// screens are the comment with the pull request, and the page of the job.
func (r *report) screens() []publish.Screen {
	summary := func(_ context.Context, board view.Texts) error { return r.log.writeSummary(board.Comment) }
	return []publish.Screen{r.host.Show, summary}
}

func (r *report) showAll(ctx context.Context, board view.Texts) {
	for _, screen := range r.screens() {
		r.answers.note(screen(ctx, board))
	}
}

// notBegun tells people on the issue why no work began.
func (r *report) notBegun(ctx context.Context, err error) {
	if r.host.issue == 0 {
		return // the log has said it
	}
	text := r.log.errorText(notBegun, err)
	if r.host.replaceComment(ctx, text) != nil { // its answer may be lost: then the comment is there
		r.log.sayError(r.host.replaceComment(ctx, text))
	}
}

// runEnded says on GitHub how it ended, no matter what happened before.
func (r *report) runEnded(ctx context.Context, outcome job.Outcome, err error, savedCaches string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWordsTime)
	defer cancel()
	switch {
	case outcome.Run.Stop != nil: // on record
		r.showAll(ctx, view.Of(outcome.Run)) // again only what did not come to people
	case err == nil:
	case outcome.Run.ID == "":
		r.notBegun(ctx, err)
	default:
		outcome.Run = r.brokenRun(outcome, err)
		r.showAll(ctx, view.Of(outcome.Run))
	}
	r.answers.runEnded(ctx, outcome.Run)
	r.setOutputs(outcome, savedCaches)
}

// brokenRun returns a run whose end could not be recorded: without it the comment would say that an agent is at work.
func (r *report) brokenRun(outcome job.Outcome, err error) journal.Run {
	run := outcome.Run
	why := strings.ReplaceAll(err.Error(), r.env.workspace+string(filepath.Separator), "")
	run.Stop = &journal.RunStopped{Reason: policy.FatalError, Why: why}
	hint := cmp.Or(fault.Hint(err), "read the job's log, and fix the problem of its machine first")
	run.Notes = append(slices.Clone(run.Notes), journal.Noted{What: hint})
	work := outcome.Home.File("work")
	if _, missing := os.Stat(work); missing == nil {
		run.Notes = append(run.Notes, journal.Noted{
			What: "work that was not pushed is saved in " + r.env.inWorkspace(work) + " of the job's workspace",
		})
	}
	return run
}

// markReported records that the end of the run was reported. If that fails, it is reported again.
func (r *report) markReported(home workspace.Run) {
	if err := r.env.folder().MarkReported(home); err != nil {
		r.log.say("could not record that the comment was updated: " + err.Error())
	}
}

// setOutputs writes the outputs for later steps of the job. They hold no token.
func (r *report) setOutputs(outcome job.Outcome, savedCaches string) {
	run := outcome.Run
	result := result.Of(run)
	if outcome.Home.ID != "" {
		result.JournalPath = r.env.inWorkspace(outcome.Home.Journal())
	}
	result.EvidencePath = r.env.inWorkspace(job.ExistingFile(outcome.Home, job.EvidenceName))
	result.ReportPath = r.env.inWorkspace(job.ExistingFile(outcome.Home, workspace.PageFile))
	resultJSON, err := json.Marshal(result)
	if err != nil {
		r.log.say(fmt.Sprintf("write the result: %v", err))
	}
	values := [][2]string{
		{"status", string(result.Status)},
		{"stop-reason", string(result.StopReason)},
		{"run-id", run.ID},
		{"issue", strconv.Itoa(r.host.issue)},
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
		{"cache-key", savedCaches},
		// A comment that was created at a second try is not on record.
		{"comment-url", cmp.Or(r.host.url(), cmp.Or(run.Published.Comment, &journal.CommentPosted{}).URL)},
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
	r.log.writeOutputs(values)
}

// dollars returns an amount for a step that reads it; empty where it is unknown.
func dollars(amount *float64) string {
	if amount == nil {
		return ""
	}
	return strconv.FormatFloat(*amount, 'f', 4, 64)
}
