package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ralph-loop/ralph/internal/core/claim"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/prompt"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/proof/check"
	"github.com/ralph-loop/ralph/internal/show/view"
)

type loopJournal struct {
	journal.Writer
	file      *workspace.OpenJournal
	iteration journal.IterationBegan // the newest iteration
	pause     func(time.Duration)
	checks    check.Hand
	project   string // in which the checks run
}

func runAt(path string) workspace.Run {
	return workspace.Folder{Path: filepath.Dir(filepath.Dir(path))}.Run(filepath.Base(path))
}

// openActiveLoop opens the loop of a session, and refuses a journal that was emptied: its run would have no end.
func (d Environment) openActiveLoop(path string) (*loopJournal, error) {
	r, err := d.openLoop(runAt(path))
	if err != nil {
		return nil, err
	}
	if r.Run.ID == "" {
		r.close()
		return nil, errors.New("it was removed or emptied. Start the loop again")
	}
	return r, nil
}

func (d Environment) openLoop(home workspace.Run) (*loopJournal, error) {
	file, entries, err := home.OpenJournalFile()
	if err != nil {
		return nil, err
	}
	folder := filepath.Dir(filepath.Dir(home.Path))
	r := &loopJournal{
		Writer:  journal.Writer{Disk: file, Now: d.Now, Hide: d.Hide, Run: journal.Fold(journal.Run{}, entries...)},
		file:    file,
		pause:   d.Pause,
		checks:  check.Hand{Run: d.RunCheck, Log: home.CreateLinked, Veil: d.Veil, Folder: filepath.Base(folder)},
		project: filepath.Dir(folder),
	}
	for _, entry := range entries {
		if began, ok := entry.Event.(journal.IterationBegan); ok {
			r.iteration = began
		}
	}
	return r, nil
}

func (r *loopJournal) close() { _ = r.file.Close() } // each line is on disk

// takeSteps takes all steps that need no agent and no check, and returns the next one.
func (r *loopJournal) takeSteps() (verdict.Step, error) {
	for {
		step := verdict.Next(r.Run)
		var event journal.Event
		switch step := step.(type) { //nolint:gochecksumtype // other steps need an agent or a check
		case verdict.Judge:
			event = step.Verdict
		case verdict.Stop:
			event = step.Stopped
		default:
			return step, nil
		}
		if err := r.Append(event); err != nil {
			return nil, err
		}
	}
}

// answerInLoop answers the end of an iteration, if the session has a loop. Errors end the loop, not the session.
func (d Environment) answerInLoop(ctx context.Context, in input) (reply answer, looping bool) {
	s, err := openSession(d.State, in.Session)
	if err != nil {
		return answer{}, false
	}
	defer s.close()
	if s.Loop == "" {
		return answer{}, false
	}
	r, err := d.openActiveLoop(s.Loop)
	if err != nil {
		s.Loop = ""
		return tellUser(fmt.Sprintf("ralph: the loop ends because its journal cannot be used: %v", err)), true
	}
	defer r.close()
	reply, err = r.judgeStop(ctx, in)
	if err != nil {
		s.Loop = ""
		return tellUser(fmt.Sprintf("ralph: the loop ends: %v. Continue it: /ralph-loop --resume", err)), true
	}
	if r.Run.Stop != nil {
		s.Loop = ""
	}
	return reply, true
}

func (r *loopJournal) judgeStop(ctx context.Context, in input) (answer, error) {
	if err := r.repair(in); err != nil || r.Run.Stop != nil {
		return answer{}, err
	}
	ended, err := r.agentEnded(in)
	if err != nil {
		return answer{}, err
	}
	if err := r.Append(ended); err != nil {
		return answer{}, err
	}
	step, err := r.takeSteps()
	if err != nil {
		return answer{}, err
	}
	if _, ok := step.(verdict.Check); ok {
		if err := r.runChecks(ctx); err != nil {
			return answer{}, err
		}
		step, err = r.takeSteps()
		if err != nil {
			return answer{}, err
		}
	}
	next, ok := step.(verdict.Iterate)
	if !ok {
		return tellUser(endText(r.Run)), nil
	}
	began := journal.IterationBegan{Number: next.Number, Session: in.Session, Heard: ended.Transcript.Size}
	if err := r.Append(began); err != nil {
		return answer{}, err
	}
	return r.sendBack(), nil
}

// MaxChecks limits the checks at one end of the session. An agent CLI ends the session if the hook takes longer than
// its own limit, which must be higher.
const MaxChecks = 10 * time.Minute

func (r *loopJournal) runChecks(ctx context.Context) error {
	it, _ := r.Run.OpenIteration()
	until := r.Now().Add(MaxChecks)
	r.checks.Patience = func(own time.Duration) time.Duration {
		left := until.Sub(r.Now())
		return min(own, max(left, time.Second))
	}
	job := check.Job{
		Where:   journal.AtWork,
		Dir:     r.project,
		Label:   strconv.Itoa(it.Number),
		Checks:  r.Run.Policy.Checks[len(it.Checks):],
		Excerpt: r.Run.Policy.Excerpt,
	}
	var failed error
	err := r.checks.Do(ctx, job, func(event journal.Event) {
		failed = cmp.Or(failed, r.Append(event))
	})
	return cmp.Or(err, failed)
}

func (r *loopJournal) sendBack() answer {
	return block(prompt.SessionContinue(r.Run), "ralph loop: "+continueText(r.Run))
}

// repair adds the event that is missing if ralph was killed before it began an iteration.
func (r *loopJournal) repair(in input) error {
	step, err := r.takeSteps()
	if err != nil {
		return err
	}
	number, begins := r.nextIteration(step)
	if !begins {
		return nil
	}
	return r.Append(journal.IterationBegan{Number: number, Session: in.Session, Heard: r.iteration.Heard})
}

// nextIteration returns the iteration that a step begins. After interrupted checks the agent has to promise again.
func (r *loopJournal) nextIteration(step verdict.Step) (number int, begins bool) {
	switch next := step.(type) { //nolint:gochecksumtype // other steps begin none
	case verdict.Check:
		return len(r.Run.Iterations), true
	case verdict.Iterate:
		_, open := r.Run.OpenIteration()
		return next.Number, !open
	}
	return 0, false
}

// agentEnded returns the agent's work. It reads the hook's last message, because the transcript may not have it yet.
func (r *loopJournal) agentEnded(in input) (journal.AgentEnded, error) {
	it, _ := r.Run.OpenIteration()
	part := transcriptPart{
		path:   in.Transcript,
		from:   r.iteration.Heard,
		began:  r.Run.Clock.Granted.At,
		judged: it.Began,
	}
	work, err := part.readUntil(in.LastMessage, r.pause)
	if err != nil {
		return journal.AgentEnded{}, fmt.Errorf("the transcript cannot be read: %w", err)
	}
	claims := claim.Claims{Wanted: []string{r.Run.Policy.Word}}
	for _, text := range append(work.texts, in.LastMessage) {
		claims.Read(text)
	}
	return journal.AgentEnded{
		Tools:      work.tools,
		Chores:     work.todoCalls,
		Promises:   claims.Promises,
		Fresh:      !in.StopHookActive,
		Words:      journal.LastWords(in.LastMessage),
		Transcript: journal.Attachment{Path: in.Transcript, Size: work.end},
	}, nil
}

func endText(run journal.Run) string {
	tools := 0
	for _, it := range run.Iterations {
		if it.Agent != nil {
			tools += it.Agent.Tools
		}
	}
	text := fmt.Sprintf("ralph loop: %s (%s) after %s and %s", run.Stop.Reason.SessionStatus(), run.Stop.Reason,
		view.Plural(max(run.UsedIterations()-1, 0), "continuation"), view.Plural(tools, "tool call"))
	if run.Stop.Reason.Status() == policy.StatusCompleted {
		return text
	}
	if run.Stop.Reason == policy.Waiting {
		text += ": " + run.Stop.Why
	}
	return text + ". Continue it: /ralph-loop --resume"
}

func continueText(run journal.Run) string {
	why := "the promise is missing"
	if last, found := run.LastJudged(); found && len(last.Ended.Rejected) > 0 {
		why = "a promise without work was rejected: " + last.Ended.Rejected[0].Why
		if !last.Ended.Green {
			why = "the promise was rejected: " + last.Ended.Rejected[0].Why
		}
	}
	return fmt.Sprintf("%s; sent back to work, time %d of %d",
		why, run.UsedIterations()-1, run.Policy.Limits.Iterations)
}
