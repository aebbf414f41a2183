package job

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/proof"
	"github.com/ralph-loop/ralph/internal/verdict"
	"github.com/ralph-loop/ralph/internal/workspace"
)

type emit = func(journal.Event)

// hands wires every step of the loop to the room that can do it.
func (s *site) hands() loop.Hands {
	prover := proof.Prover{Checkout: s.checkout, Check: s.prove}
	return loop.Hands{
		Baseline:  prover.Baseline,
		Iterate:   s.iterate,
		Read:      s.read,
		Check:     s.check,
		Take:      s.take,
		Prove:     prover.Prove,
		Push:      s.push,
		OpenPull:  s.openPull,
		ReadyPull: s.readyPull,
	}
}

// iterate gives a story to the agent: memory first, then the prompt, then it.
func (s *site) iterate(ctx context.Context, run journal.Run, step verdict.Iterate, emit emit) error {
	tree, err := s.tree(ctx)
	if err != nil {
		return err
	}
	if err := remember(tree, run, run.Plan); err != nil {
		return err
	}
	text, err := prompt.Write(run, step.Number, step.Story)
	if err != nil {
		return err
	}
	attached, err := s.attach(fmt.Sprintf("prompt_%d.md", step.Number), text)
	if err != nil {
		return err
	}
	emit(journal.IterationBegan{Number: step.Number, Story: step.Story, Prompt: attached})
	hand := agent.Hand{
		Adapter: s.Agent, Run: s.Exec, Dir: tree.Dir, Env: s.AgentEnv, Watch: s.Watch,
		Open: s.home.Create, Timeout: s.patience(run), Grace: s.Grace,
	}
	ended, err := hand.Do(ctx, agent.Order{
		Iteration: step.Number, Max: run.Policy.Limits.Iterations, Story: step.Story, Prompt: text, Model: run.Policy.Model,
		Books: workspace.Books(),
	})
	if err != nil {
		return err
	}
	emit(ended)
	return nil
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
	tree, err := s.tree(ctx)
	if err != nil {
		return err
	}
	merged := plan.Merged{Plan: run.Plan}
	proposed, err := workspace.Memory{Tree: tree.Dir}.Read()
	if err != nil {
		merged.Undone = []string{"the whole plan, for it could not be read: " + err.Error()}
	} else {
		merged = plan.Merge(run.Plan, proposed)
	}
	emit(journal.PlanRead{Plan: merged.Plan, Claimed: merged.Claimed, Undone: merged.Undone})
	if len(merged.Undone) == 0 {
		return nil
	}
	return remember(tree, run, merged.Plan)
}

// remember puts a plan, and the log if there is none, where the agent finds
// them.
func remember(tree *git.Tree, run journal.Run, p plan.Plan) error {
	progress, err := prompt.Progress(run)
	if err != nil {
		return err
	}
	return workspace.Memory{Tree: tree.Dir}.Write(p, progress)
}

// check runs the checks on the agent's tree.
func (s *site) check(ctx context.Context, run journal.Run, _ verdict.Check, emit emit) error {
	tree, err := s.tree(ctx)
	if err != nil {
		return err
	}
	return s.checks(ctx, run, check.Job{Where: journal.AtWork, Dir: tree.Dir, Label: latest(run)}, emit)
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
	job.Checks = run.Policy.Checks
	return check.Hand{Run: s.Exec, Env: s.CheckEnv, Grace: s.Grace, Log: s.home.Create}.Do(ctx, job, emit)
}

// latest is the number of the newest iteration, for the names of logs.
func latest(run journal.Run) string {
	if n := len(run.Iterations); n > 0 {
		return strconv.Itoa(run.Iterations[n-1].Number)
	}
	return "0"
}

// take has the agent's commits handed over. Commits that had to be made again
// become the agent's own history.
func (s *site) take(ctx context.Context, run journal.Run, step verdict.Take, emit emit) error {
	tree, err := s.tree(ctx)
	if err != nil {
		return err
	}
	if step.Leftovers {
		if err := s.sweep(ctx, run, tree); ctx.Err() != nil {
			return err
		} else if err != nil {
			emit(journal.Noted{What: "work left uncommitted could not be committed: " + err.Error()})
		}
	}
	taken, err := s.trusted.Take(ctx, tree, git.Terms{Base: run.Base, Last: run.Head, Protect: run.Policy.Protect})
	if err != nil {
		return err
	}
	taken.Swept = step.Leftovers
	if err := follow(ctx, tree, taken); err != nil {
		return err
	}
	emit(taken)
	return nil
}

// follow brings the agent's tree along when its commits were made again.
func follow(ctx context.Context, tree *git.Tree, taken journal.CommitsTaken) error {
	if len(taken.Refused) > 0 {
		return nil
	}
	head, err := tree.Head(ctx)
	if err != nil || head == taken.To {
		return err
	}
	return tree.Reset(ctx, taken.To)
}

// sweep commits what the agent left uncommitted.
func (s *site) sweep(ctx context.Context, run journal.Run, tree *git.Tree) error {
	status, err := tree.Status(ctx)
	if err != nil || !status.Dirty {
		return err
	}
	_, err = tree.CommitAll(ctx, leftovers(run))
	return err
}

// leftovers is the message for work that nobody committed.
func leftovers(run journal.Run) git.Message {
	n := len(run.Iterations)
	if n == 0 {
		return git.Message{Subject: "ralph: work left uncommitted"}
	}
	it := run.Iterations[n-1]
	subject := fmt.Sprintf("wip: [%s] - work of iteration %d, checks not green", it.Story, it.Number)
	if story, found := run.Plan.Find(it.Story); found && run.Green(it.Checks) {
		subject = fmt.Sprintf("feat: [%s] - %s", story.ID, story.Title)
	}
	return git.Message{Subject: subject, Trailers: []string{"Ralph-Run: " + run.ID}}
}
