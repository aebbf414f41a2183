package job

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

var (
	errNoMessage = errors.New("the agent gave no commit message")
	errChanged   = errors.New("the agent changed files when it was asked for the message, and no check saw that")
)

const messagePrompt = "Provide a short imperative commit message for the changes. " +
	"Output only the message, no explanation."

// scm runs the user's own version control.
type scm struct {
	machine  *Machine
	record   *record
	tree     *agentTree
	agents   *agents
	delivery *delivery
}

func (s *scm) runSCMTask(ctx context.Context, run journal.Run, step verdict.RunSCMTask, emit emit) error {
	done, err := s.runSCMCommand(ctx, run, step.Task, emit)
	if ctx.Err() != nil {
		return err
	}
	if err != nil {
		done.Failed = true
		done.Why = err.Error()
	}
	done.Task = step.Task
	emit(done)
	return nil
}

const commitTask = "commit"

func (s *scm) runSCMCommand(ctx context.Context, run journal.Run, task string, emit emit) (journal.SCMEnded, error) {
	var done journal.SCMEnded
	dir, err := s.tree.folder(ctx)
	if err != nil {
		return done, err
	}
	words, err := agent.Words(task)
	if err != nil {
		return done, err
	}
	argv := append([]string{run.Policy.SCM.Command}, words...)
	if task == commitTask {
		if err := s.askMessage(ctx, run, dir, &done, emit); err != nil {
			return done, err
		}
		argv = append(argv, "-am", done.Message)
	}
	if s.isOutside(argv) && s.tree.code.Box != nil {
		if err := s.delivery.deliver(ctx, s.record.Run(), emit); err != nil {
			return done, err
		}
		if err := s.checkDelivered(ctx, s.record.Run()); err != nil {
			return done, err
		}
		dir = projectDir(run, s.tree.code.Box.Top)
		argv = slices.Insert(argv, 1, "-c", "core.hooksPath=/dev/null") // the agent may have written hooks
	}
	output := &process.Tail{N: 2000}
	result, err := s.execSCM(ctx, process.Command{Argv: argv, Dir: dir, Stdout: output, Stderr: output})
	done.Exit = result.Exit
	if err != nil || result.Exit == 0 {
		return done, err
	}
	if isNothingToCommit(task, output.String()) {
		done.Message = "" // no commit has it
		return done, nil
	}
	why := git.Reason(output.String())
	return done, fmt.Errorf("%s %s: exit %d: %s", run.Policy.SCM.Command, task, result.Exit, why)
}

// askMessage asks the agent for a commit message, and refuses changes that it makes meanwhile.
func (s *scm) askMessage(
	ctx context.Context,
	run journal.Run,
	dir string,
	done *journal.SCMEnded,
	emit emit,
) error {
	before, err := s.fileState(ctx)
	if err != nil {
		return err
	}
	if err := s.commitMessage(ctx, run, dir, done, emit); err != nil {
		return err
	}
	after, err := s.fileState(ctx)
	if err != nil {
		return err
	}
	if after != before {
		return errChanged
	}
	return nil
}

// fileState returns the state of the files that the checks verified.
func (s *scm) fileState(ctx context.Context) (git.TreeState, error) {
	tree, err := s.tree.open(ctx)
	if err != nil || tree == nil {
		return git.TreeState{Work: workspace.Fingerprint(ctx, s.tree.code.Dir)}, err
	}
	return tree.Look(ctx)
}

// localSubcommands of git need neither the network nor the user's login.
var localSubcommands = []string{
	"add", "branch", "checkout", "cherry-pick", "commit", "ls-files", "merge", "mv", "notes",
	"rebase", "reset", "restore", "revert", "rm", "stash", "switch", "tag",
}

// checkDelivered refuses the user's repository for a task if the work is not on the branch that is checked out there.
func (s *scm) checkDelivered(ctx context.Context, run journal.Run) error {
	if s.tree.code.Box.Place == nil {
		return nil
	}
	if err := checkOn(ctx, s.tree.code.Box.Place.Do, run.Branch); err != nil {
		return err
	}
	if run.Box.Delivered.Branch != "" {
		return fmt.Errorf("%s has moved, so the commits are on the branch %s", run.Branch, run.Box.Delivered.Branch)
	}
	return nil
}

// IsLocal reports whether a command of scm runs in the sandbox.
func IsLocal(argv []string) bool {
	return path.Base(argv[0]) == "git" && len(argv) > 1 && slices.Contains(localSubcommands, argv[1])
}

// isOutside reports a command that needs the user's network or login: it runs in the user's own repository.
func (s *scm) isOutside(argv []string) bool {
	if s.machine.Sandbox == nil {
		return true
	}
	return path.Base(argv[0]) == "git" && !IsLocal(argv)
}

func (s *scm) execSCM(ctx context.Context, command process.Command) (process.Result, error) {
	var exec sandbox.Exec = s.machine.Exec
	env := s.machine.UserEnv
	if !s.isOutside(command.Argv) {
		exec = s.tree.commandRunner(command.Dir)
		env = s.machine.Sandbox.Env(s.machine.CheckEnv, false)
	}
	command.Env = env
	command.Timeout = 10 * time.Minute
	command.Grace = s.machine.Grace
	return exec(ctx, command)
}

// A commit without changes is no failure.
func isNothingToCommit(task, output string) bool {
	if task != commitTask {
		return false
	}
	return strings.Contains(output, "nothing to commit") || strings.Contains(output, "nothing added to commit")
}

// commitMessage takes the answer in response tags, or else the first line that is not empty.
func (s *scm) commitMessage(
	ctx context.Context,
	run journal.Run,
	dir string,
	done *journal.SCMEnded,
	emit emit,
) error {
	if verdict.IsBudgetSpent(run) { // green work is still committed
		done.Message = fmt.Sprintf("chore: work of iteration %d", len(run.Iterations))
		return nil
	}
	ended, err := s.agents.runAgent(ctx, s.agents.agentAt(run, dir), agent.Order{
		Iteration: len(run.Iterations),
		Max:       run.Policy.Limits.Iterations,
		Prompt:    messagePrompt,
		Model:     run.Policy.Model,
	}, emit)
	if err != nil {
		return err
	}
	done.CostUSD = ended.Cost.USD
	done.MostUSD = ended.Cost.Most
	done.Unpriced = !ended.Cost.Known
	done.Usage = ended.Usage
	if ended.Failed {
		return fmt.Errorf("%w: %s", errNoMessage, ended.Why)
	}
	answer := strings.TrimSpace(ended.Response)
	for line := range strings.Lines(ended.Words) {
		if answer != "" {
			break
		}
		answer = strings.TrimSpace(line)
	}
	done.Message = strings.TrimSpace(clean.CommitMessage(answer)) // a later task may push it
	if done.Message == "" {
		return errNoMessage
	}
	return nil
}
