package main_test

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// rareEvent returns an event of the rarer kinds, and the job that it starts.
func (v *scriptGitHub) rareEvent(kind, who, text string) ([]string, error) {
	e := githubtest.Event{Repo: shop, Issue: v.issue, Sender: who}
	switch kind {
	case "review": // that asks for changes, with remarks
		text, body, _ := strings.Cut(text, " ;; body: ")
		review := v.AddReview(shop, v.issue, githubtest.Review{Author: who, State: "CHANGES_REQUESTED", Body: body}, placed(text)...)
		payload, err := v.ReviewEvent(e, review.ID)
		return v.started("pull_request_review", who, payload, err)
	case "remark":
		v.AddReview(shop, v.issue, githubtest.Review{Author: who}, githubtest.ReviewComment{Path: "greet.sh", Line: 1, DiffHunk: "@@ -0,0 +1 @@\n+echo", Body: text})
		remarks := v.Remarks(shop, v.issue)
		payload, err := v.RemarkEvent(e, remarks[len(remarks)-1].ID)
		return v.started("pull_request_review_comment", who, payload, err)
	case "reply": // in the first thread
		v.AddReview(shop, v.issue, githubtest.Review{Author: who}, githubtest.ReviewComment{Path: "greet.sh", Line: 1, ReplyTo: v.Remarks(shop, v.issue)[0].ID, Body: text})
		payload, err := v.RemarkEvent(e, lastOf(v.Remarks(shop, v.issue))[0].ID)
		return v.started("pull_request_review_comment", who, payload, err)

	case "pull":
		payload, err := v.PullEvent(e, cmp.Or(text, "synchronize"))
		return v.started("pull_request", who, payload, err)
	case "group": // of a branch
		head, err := v.git("rev-parse", text)
		if err != nil {
			return nil, err
		}
		payload, err := v.GroupEvent(e, strings.TrimSpace(head))
		return v.started("merge_group", who, payload, err)
	case "proved":
		payload, err := v.ProvedEvent(e, ".github/workflows/"+text)
		return v.started("workflow_run", who, payload, err)
	case "workflow_run", "check_suite", "status": // of the head, or of another commit
		pull, _ := v.Pull(shop, v.issue)
		conclusion, sha, _ := strings.Cut(text, " ")
		payload, err := v.CIEvent(e, kind, cmp.Or(sha, pull.HeadSHA), conclusion)
		return v.started(kind, who, payload, err)
	case "push": // to a branch
		payload, err := v.PushEvent(e, text)
		return v.started("push", who, payload, err)
	case "again": // the same delivery once more, as a job of its own
		payload, err := os.ReadFile(v.path("runner", "event.json"))
		return v.started(text, who, payload, err)
	case "dispatch":
		var inputs map[string]string
		if text != "" { // by the server of an App
			inputs = map[string]string{"delivery": text}
		}
		payload, err := v.DispatchEvent(e, inputs)
		return v.started("workflow_dispatch", who, payload, err)
	}
	return nil, fmt.Errorf("there is no event %q", kind)
}

// placed are remarks, with " ;; " between them, and FILE:LINE before those that are not on greet.sh:1.
func placed(text string) (remarks []githubtest.ReviewComment) {
	for one := range strings.SplitSeq(text, " ;; ") {
		remark := githubtest.ReviewComment{Path: "greet.sh", Line: 1, DiffHunk: "@@ -0,0 +1 @@\n+echo", Body: one}
		if path, rest, is := strings.Cut(one, ":"); is && strings.Contains(path, ".") {
			line, body, _ := strings.Cut(rest, ": ")
			number, _ := strconv.Atoi(line)
			remark.Path, remark.Line, remark.Body = path, number, body
		}
		remarks = append(remarks, remark)
	}
	return remarks
}

func (v *scriptGitHub) started(event, who string, payload []byte, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	return v.job(event, who, payload)
}

// said WHO TEXT… is a comment from an hour ago: what is said in the second in
// which somebody asks for work comes too late.
func (v *scriptGitHub) said(args []string) (string, error) {
	at := time.Now().Add(-time.Hour)
	v.AddComment(shop, githubtest.Comment{Issue: v.issue, Author: args[0], Body: strings.ReplaceAll(strings.Join(args[1:], " "), `\n`, "\n"), CreatedAt: at})
	return "", nil
}

// follow has the events that come be about the newest pull request.
func (v *scriptGitHub) follow(args []string) (string, error) {
	if len(args) > 0 {
		v.issue, _ = strconv.Atoi(args[0])
		return "", nil
	}
	v.issue = lastOf(v.Pulls(shop))[0].Number
	return "", nil
}

// red NAME MESSAGE… has a check fail on the commit of the pull request.
func (v *scriptGitHub) red(args []string) (string, error) {
	pull, _ := v.Pull(shop, v.issue)
	v.AddCheckRun(shop, githubtest.CheckRun{SHA: pull.HeadSHA, Name: args[0], Conclusion: "failure", Title: strings.Join(args[1:], " ")})
	return "", nil
}

// ci RUN CONCLUSION NAME LOG… is how a job of a workflow run ended on the
// head of the pull request, or with main before it on the base; for a fork with fork.
func (v *scriptGitHub) ci(args []string) (string, error) {
	pull, _ := v.Pull(shop, v.issue)
	sha, fork := pull.HeadSHA, ""
	switch args[0] {
	case "main":
		head, err := v.git("rev-parse", "main")
		if err != nil {
			return "", err
		}
		sha, args = strings.TrimSpace(head), args[1:]
	case "fork":
		v.AddRepo(githubtest.Repo{Owner: "mia", Name: "greeter", Dir: v.bare()})
		fork, args = "mia/greeter", args[1:]
	}
	run, err := strconv.ParseInt(args[0], 10, 64)
	v.SetWorkflowRun(shop, githubtest.WorkflowRun{ID: run, Status: "completed", Conclusion: args[1], Fork: fork})
	v.AddCheckRun(shop, githubtest.CheckRun{SHA: sha, Name: args[2], Conclusion: args[1], Run: run, Log: strings.ReplaceAll(strings.Join(args[3:], " "), `\n`, "\n")})
	return "", err
}

// stateOf CONTEXT STATE… is a status of the head of the pull request.
func (v *scriptGitHub) stateOf(args []string) (string, error) {
	pull, _ := v.Pull(shop, v.issue)
	v.SetStatus(shop, githubtest.Status{SHA: pull.HeadSHA, Context: args[0], State: args[1], Description: strings.Join(args[2:], " ")})
	return "", nil
}

// remarks returns what people said on lines of the pull request.
func (v *scriptGitHub) remarks([]string) (string, error) {
	var text strings.Builder
	for _, remark := range v.Remarks(shop, v.issue) {
		if remark.ReplyTo == 0 {
			fmt.Fprintf(&text, "%s resolved=%t\n", remark.Path, remark.Resolved)
		}
		fmt.Fprintf(&text, "%s: %s\n", remark.Author, remark.Body)
		for _, reaction := range remark.Reactions {
			fmt.Fprintf(&text, "reaction %s\n", reaction.Content)
		}
	}
	return text.String(), nil
}

// checks returns those of a branch's commit.
func (v *scriptGitHub) checks(args []string) (string, error) {
	sha, err := v.git("rev-parse", args[0])
	var text strings.Builder
	for _, check := range v.CheckRuns(shop, strings.TrimSpace(sha)) {
		fmt.Fprintf(&text, "%s: %s: %s\n%s", check.Name, check.Conclusion, check.Title, check.Summary)
		for _, note := range check.Annotations {
			fmt.Fprintf(&text, "note %s:%d: %s\n", note.Path, note.Line, note.Message)
		}
	}
	return text.String(), err
}
