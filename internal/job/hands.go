package job

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/proof"
	"github.com/ralph-loop/ralph/internal/verdict"
	"github.com/ralph-loop/ralph/internal/view"
	"github.com/ralph-loop/ralph/internal/workspace"
)

type emit = func(journal.Event)

// logs is where the checks' whole outputs lie, as people and prompts name it.
const logs = ".ralph"

// hands wires every step of the loop to the room that can do it.
func (s *site) hands() loop.Hands {
	prover := proof.Prover{Checkout: s.checkout, Check: s.prove}
	iterate := s.iterate
	if s.Supervised != nil {
		iterate = s.supervise
	}
	return loop.Hands{
		Baseline:  prover.Baseline,
		Iterate:   iterate,
		Read:      s.read,
		Check:     s.check,
		Take:      s.take,
		Prove:     prover.Prove,
		Commit:    s.commit,
		Push:      s.push,
		OpenPull:  s.openPull,
		ReadyPull: s.readyPull,
		Look:      s.look,
		Pause:     s.pause,
		Settle:    s.settle,
	}
}

// iterate gives the agent its turn: memory first, then the prompt, then it.
func (s *site) iterate(ctx context.Context, run journal.Run, step verdict.Iterate, emit emit) error {
	dir, err := s.ground.folder(ctx)
	if err != nil {
		return err
	}
	if err := remember(dir, run, run.Plan); err != nil {
		return err
	}
	text, err := s.compose(ctx, run, step)
	if err != nil {
		return err
	}
	attached, err := s.attach(fmt.Sprintf("prompt_%d.md", step.Number), text)
	if err != nil {
		return err
	}
	emit(journal.IterationBegan{Number: step.Number, Story: step.Story, Prompt: attached})
	hand := agent.Hand{
		Adapter: s.Agent, Run: s.Exec, Dir: dir, Env: s.AgentEnv, Watch: s.Watch,
		Open: s.home.Create, Timeout: s.patience(run), Grace: s.Grace,
		Idle: run.Policy.Limits.Idle.Std(),
	}
	ended, err := hand.Do(ctx, agent.Order{
		Iteration: step.Number, Max: run.Policy.Limits.Iterations, Story: step.Story, Prompt: text, Model: run.Policy.Model,
		Tags: tags(run.Policy), Books: workspace.Memory{Dir: memory(run)}.Books(),
	})
	if err != nil {
		return err
	}
	emit(ended)
	return nil
}

// tags are the words that count as a claim when they stand alone on a line.
func tags(p policy.Policy) []string {
	if p.Done == policy.ByTag {
		return []string{p.Word}
	}
	return nil
}

// compose writes the prompt, with what only the disk knows.
func (s *site) compose(ctx context.Context, run journal.Run, step verdict.Iterate) (string, error) {
	turn := prompt.Turn{Number: step.Number, Story: step.Story}
	var err error
	switch {
	case run.Policy.Done != policy.ByStories:
		turn.Base, err = s.asked(run)
	case s.Own != nil:
		turn.Base, err = workspace.Memory{Tree: s.Own.Dir, Dir: memory(run)}.Prompt()
	}
	if run.Policy.Done == policy.ByTag && err == nil {
		turn.Progress = view.Progress(run)
		turn.Diff, err = s.ground.diff(ctx, run, 4*diffChars)
		turn.Diff = cut(turn.Diff, diffChars)
	}
	if err != nil {
		return "", err
	}
	return prompt.Of(run, turn)
}

// diffChars is how much of a diff fits into a prompt.
const diffChars = 5000

func cut(text string, chars int) string {
	runes := []rune(text)
	if len(runes) <= chars {
		return text
	}
	return string(runes[:chars]) + "\n... [truncated]"
}

// asked is what the agent is to do. A file is read each time: people mend it
// while the loop runs.
func (s *site) asked(run journal.Run) (string, error) {
	if run.Policy.PromptFile == "" {
		return run.Task.Body, nil
	}
	text, err := workspace.ReadText(run.Policy.PromptFile)
	if err != nil {
		return "", fault.Usage("cannot read the prompt file "+run.Policy.PromptFile, "put it back, or name another with -f", err)
	}
	return text, nil
}

// patience is how long an agent may take: an iteration's time, and no more
// than is left of the run's.
func (s *site) patience(run journal.Run) time.Duration {
	limit := run.Policy.Limits.Iteration.Std()
	if whole := run.Policy.Limits.Run.Std(); whole > 0 {
		left := max(whole-s.Now().Sub(run.Granted.At), time.Second)
		if limit == 0 || left < limit {
			limit = left
		}
	}
	return limit
}

// attach keeps a text beside the journal.
func (s *site) attach(name, text string) (journal.Attachment, error) {
	file, err := s.home.Create(name)
	if err != nil {
		return journal.Attachment{}, err
	}
	_, err = io.WriteString(file, text)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return journal.Attachment{}, fmt.Errorf("write %s: %w", name, err)
	}
	digest := sha256.Sum256([]byte(text))
	return journal.Attachment{Path: name, Digest: hex.EncodeToString(digest[:]), Size: int64(len(text))}, nil
}

// read takes over what the agent made of the plan, and writes the plan that
// counts back into its tree.
func (s *site) read(ctx context.Context, run journal.Run, _ verdict.Read, emit emit) error {
	dir, err := s.ground.folder(ctx)
	if err != nil {
		return err
	}
	merged := plan.Merged{Plan: run.Plan}
	proposed, err := workspace.Memory{Tree: dir, Dir: memory(run)}.Read()
	if err != nil {
		merged.Undone = []string{"the whole plan, for it could not be read: " + err.Error()}
	} else {
		merged = plan.Merge(run.Plan, proposed)
	}
	emit(journal.PlanRead{Plan: merged.Plan, Claimed: merged.Claimed, Undone: merged.Undone})
	if len(merged.Undone) == 0 {
		return nil
	}
	return remember(dir, run, merged.Plan)
}

// memory is the folder of the loop's memory in the agent's tree.
func memory(run journal.Run) string { return cmp.Or(run.Policy.Memory, workspace.MemoryDir) }

// remember puts a plan, and the log if there is none, where the agent finds
// them. A run without a plan has no such memory.
func remember(dir string, run journal.Run, p plan.Plan) error {
	if len(p.UserStories) == 0 {
		return nil
	}
	progress, err := prompt.Progress(run)
	if err != nil {
		return err
	}
	return workspace.Memory{Tree: dir, Dir: memory(run)}.Write(p, progress)
}

// check runs the checks on the agent's tree.
func (s *site) check(ctx context.Context, run journal.Run, _ verdict.Check, emit emit) error {
	dir, err := s.ground.folder(ctx)
	if err != nil {
		return err
	}
	s.ground.hold(ctx, run)
	return s.checks(ctx, run, check.Job{Where: journal.AtWork, Dir: dir, Label: latest(run)}, emit)
}

// prove runs them on a clean checkout.
func (s *site) prove(ctx context.Context, run journal.Run, at proof.Place, emit emit) error {
	label := "base"
	if at.Where == journal.AtProof {
		label = latest(run) + "_proof"
	}
	return s.checks(ctx, run, check.Job{Where: at.Where, Dir: at.Dir, Commit: at.Commit, Label: label}, emit)
}

func (s *site) checks(ctx context.Context, run journal.Run, job check.Job, emit emit) error {
	job.Checks, job.Excerpt = run.Policy.Checks, run.Policy.Excerpt
	return check.Hand{Run: s.Exec, Env: s.CheckEnv, Grace: s.Grace, Log: s.Folder.Create, Folder: logs}.Do(ctx, job, emit)
}

// latest is the number of the newest iteration, for the names of logs.
func latest(run journal.Run) string {
	if n := len(run.Iterations); n > 0 {
		return strconv.Itoa(run.Iterations[n-1].Number)
	}
	return "0"
}

// take makes the agent's work the run's own.
func (s *site) take(ctx context.Context, run journal.Run, step verdict.Take, emit emit) error {
	if step.Leftovers && run.Policy.Done == policy.ByStories {
		if err := s.ground.sweep(ctx, run); ctx.Err() != nil {
			return err
		} else if err != nil {
			emit(journal.Noted{What: "work left uncommitted could not be committed: " + err.Error()})
		}
	}
	taken, err := s.ground.take(ctx, run)
	if err != nil {
		return err
	}
	taken.Swept = step.Leftovers
	emit(taken)
	return nil
}

// leftovers is the message for work that nobody committed.
func leftovers(run journal.Run) git.Message {
	n := len(run.Iterations)
	if n == 0 {
		return git.Message{Subject: "ralph: work left uncommitted"}
	}
	it := run.Iterations[n-1]
	subject := fmt.Sprintf("wip: [%s] - work of iteration %d", it.Story, it.Number)
	claimed := it.Read != nil && slices.Contains(it.Read.Claimed, it.Story)
	if story, found := run.Plan.Find(it.Story); found && claimed && run.Green(it.Checks) {
		subject = fmt.Sprintf("feat: [%s] - %s", story.ID, story.Title)
	}
	return git.Message{Subject: subject, Trailers: []string{"Ralph-Run: " + run.ID}}
}
