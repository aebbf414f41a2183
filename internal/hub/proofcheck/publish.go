package proofcheck

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
)

const workflow = ".github/workflows/ralph-proof.yml" // outcomes of others are not published

// Publish publishes the outcome of a fork's job. Any code in that job can have written the file, so it counts only for
// the pull request's head, and only if that changes no workflow.
func (j Job) Publish(ctx context.Context) error {
	proved, err := github.ReadProved(j.Payload)
	if err != nil {
		fix := "use `mode: publish` with workflow_run, in the workflow that ralph init --proof writes"
		return fault.Usage("the event names no proof", fix, err)
	}
	path, _, _ := strings.Cut(proved.Path, "@") // a ref may follow
	if proved.Event != eventPull || path != workflow {
		j.Say(fmt.Sprintf(
			"not for ralph: the run is one of %q by %q: only %s by pull_request is published",
			proved.Path, proved.Event, workflow,
		))
		return nil
	}
	handed, err := j.handed()
	if err != nil {
		return j.put(ctx, refused(proved.Head, "the job left no readable outcome"))
	}
	p, err := j.Client.Proposal(ctx, handed.Pull)
	if err != nil {
		return err
	}
	if why := j.whySkipped(p); why != "" {
		j.Say("not published: " + why)
		return nil
	}
	if p.HeadSHA != proved.Head || !strings.EqualFold(p.HeadRepo, proved.Repo) {
		j.Say(fmt.Sprintf("not published: #%d has another head than the job proved", handed.Pull))
		return nil
	}
	return j.publishConfirmed(ctx, p, handed.Outcome)
}

func (j Job) handed() (h Handed, err error) {
	data, err := untrusted.Folder{Path: j.Workspace}.ReadFile(handedFile, largest)
	if err != nil {
		return h, err
	}
	return Read(data)
}

// publishConfirmed publishes an outcome after git confirmed its facts.
func (j Job) publishConfirmed(ctx context.Context, p github.Pull, o checkout.Outcome) error {
	dir, err := j.dir()
	if err != nil {
		return err
	}
	defer untrusted.RemoveAll(dir) //nolint:errcheck // the job's folder ends with it
	code, _, err := j.fetch(ctx, filepath.Join(dir, "code.git"), p)
	if err != nil {
		return err
	}
	why, err := whyRefused(ctx, code, p, o)
	if err != nil {
		return err
	}
	if why == "" {
		return j.publish(ctx, p, o, lines(ctx, code, o))
	}
	check := refused(p.HeadSHA, why)
	if err := j.put(ctx, check); err != nil {
		return err
	}
	return j.sticky(ctx, p.Number, check, true)
}

// whyRefused returns why an outcome does not count, or "".
func whyRefused(ctx context.Context, code *git.Trusted, p github.Pull, o checkout.Outcome) (string, error) {
	base, err := code.MergeBase(ctx, git.Span{From: p.BaseSHA, To: p.HeadSHA})
	if err != nil {
		return "", err
	}
	if o.Head != p.HeadSHA || o.Base != base {
		return "the outcome is of other commits than those of the pull request", nil
	}
	forks, err := code.MergeBases(ctx, git.Span{From: p.BaseSHA, To: o.Head})
	if err != nil {
		return "", err
	}
	for _, fork := range forks {
		names, err := code.ChangedPaths(ctx, git.Span{From: fork, To: o.Head})
		if err != nil {
			return "", err
		}
		if i := slices.IndexFunc(names, runsJobs); i >= 0 {
			return "the pull request changes " + names[i] +
				", which the proof's job used: a maintainer comments /ralph prove", nil
		}
	}
	return "", nil
}

func runsJobs(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, ".github/workflows/") || strings.HasPrefix(name, ".github/actions/")
}

// publish puts the check on a proposal's head, and a comment if a person must look.
func (j Job) publish(ctx context.Context, p github.Pull, outcome checkout.Outcome, line func(string) int) error {
	claim, from := j.claim(ctx, p)
	check, person := Check(Facts{Outcome: outcome, Head: p.HeadSHA, Claim: claim, From: from, Line: line})
	if err := j.put(ctx, check); err != nil {
		return err
	}
	return j.sticky(ctx, p.Number, check, person)
}

func (j Job) put(ctx context.Context, check github.NewCheck) error {
	check.Summary = j.Hide(check.Summary)
	j.Say(check.Name + ": " + check.Conclusion + ": " + check.Title)
	j.Tell(check.Conclusion)
	return j.Client.CreateCheck(ctx, check)
}

var closes = pattern.Of(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d{1,9})\b`)

// claim returns the claim of a pull request: from the issue that it closes, if the token can read that, else from
// its own text.
func (j Job) claim(ctx context.Context, p github.Pull) (claim []plan.Story, from string) {
	page, err := j.Client.Show(ctx, p.Body)
	if err != nil {
		j.Say(fault.Told(err))
		return nil, ""
	}
	found := closes.FindStringSubmatch(page.Text)
	if found == nil {
		task := plan.Task{Kind: plan.KindPull, Number: p.Number, Title: p.Title, Body: page.Text}
		return Claim(task), "this pull request"
	}
	number, err := strconv.Atoi(found[1])
	if err != nil {
		return nil, ""
	}
	issue, page, err := j.Client.IssuePage(ctx, number)
	if err != nil {
		j.Say(fault.Told(err))
		return nil, ""
	}
	task := plan.Task{Kind: plan.KindIssue, Number: number, Title: issue.Title, Body: page.Text}
	return Claim(task), "#" + found[1]
}

const marker = trigger.Marker + "proof -->"

// sticky keeps one comment while a person must look. It is no failure if the token may not comment.
func (j Job) sticky(ctx context.Context, number int, check github.NewCheck, person bool) error {
	if number == 0 {
		return nil
	}
	err := j.updateComment(ctx, number, check, person)
	if err != nil && github.Withheld(err) {
		j.Say("no comment: " + fault.Told(err))
		return nil
	}
	return err
}

// updateComment creates, edits or deletes the comment.
func (j Job) updateComment(ctx context.Context, number int, check github.NewCheck, person bool) error {
	comment, found, err := j.Client.FindComment(ctx, number, marker)
	if err != nil {
		return err
	}
	text := j.Hide(marker + "\n**" + clean.Inline(check.Title, 0) + "**\n\n" + check.Summary)
	switch {
	case person && found:
		_, err = j.Client.EditComment(ctx, number, comment.ID, text)
	case person:
		_, err = j.Client.CreateComment(ctx, number, text)
	case found:
		err = j.Client.DeleteComment(ctx, comment.ID)
	}
	return err
}
