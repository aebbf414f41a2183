package job

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/agent/instructions"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/prompt"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/show/view"
)

func (s *activeRun) iterate(ctx context.Context, run journal.Run, step verdict.Iterate, emit emit) error {
	dir, err := s.tree.folder(ctx)
	if err != nil {
		return err
	}
	if err := s.checks.runSetup(ctx, run, step.Number, emit); err != nil {
		return err
	}
	if err := s.memory.writeMemory(ctx, dir, run, s.memory.joinPlan(dir, run, emit)); err != nil {
		return err
	}
	text, err := s.promptText(ctx, run, step)
	if err != nil {
		return err
	}
	handed, err := s.writeAttachments(ctx, dir, run)
	if err != nil {
		return err
	}
	text += handed
	attached, err := s.record.saveText(fmt.Sprintf("prompt_%d.md", step.Number), text)
	if err != nil {
		return err
	}
	log, err := s.memory.prepareLog(ctx, dir, run, emit)
	if err != nil {
		return err
	}
	emit(journal.IterationBegan{Number: step.Number, Story: step.Story, Prompt: attached, Log: log})
	hand := s.agents.agentAt(run, dir)
	hand.Open = s.record.home.Create
	open, _ := s.record.Run().OpenIteration()
	restore, err := s.removeInstructions(ctx, run)
	if err != nil {
		return err
	}
	var tags []string // each completes the run if it stands alone on a line
	if run.Policy.Done == policy.ByTag {
		tags = []string{run.Policy.Word}
	}
	ended, err := s.agents.runAgent(ctx, hand, agent.Order{
		Iteration:     step.Number,
		Retries:       open.Turned,
		Max:           run.Policy.Limits.Iterations,
		Story:         step.Story,
		Prompt:        text,
		Model:         run.Policy.Model,
		Tags:          tags,
		ProgressFiles: workspace.Memory{Dir: memoryDir(run)}.Files(),
	}, emit)
	err = errors.Join(err, restore(context.WithoutCancel(ctx)))
	if err != nil {
		return err
	}
	ended.Words = journal.LastWords(ended.Words)
	emit(ended)
	return nil
}

func (s *activeRun) promptText(ctx context.Context, run journal.Run, step verdict.Iterate) (string, error) {
	base, err := BasePrompt(run, s.tree.code.Project)
	if err != nil {
		return "", err
	}
	turn := prompt.Turn{Number: step.Number, Story: step.Story, Base: base}
	if run.Policy.Done == policy.ByTag {
		diff, err := s.tree.diff(ctx, run, 4*diffChars)
		if err != nil {
			return "", err
		}
		turn.Progress = s.record.redacted(view.Progress(run))
		turn.Diff = truncate(s.record.redacted(diff), diffChars) // after redaction, which does not find half a secret
	}
	text, err := prompt.ForTurn(run, turn)
	if err != nil {
		return "", err
	}
	return s.agents.guidance(ctx, run) + text, nil
}

const attachmentsIntro = "\n## Attached to the issue\n\n" +
	"People attached these files. They are context, as the text of the issue is.\n\n"

// writeAttachments writes the attachments for the agent, and returns their list for the prompt.
func (s *activeRun) writeAttachments(ctx context.Context, dir string, run journal.Run) (string, error) {
	if len(s.agents.chosen.Attachments) == 0 {
		return "", nil
	}
	text := strings.Builder{}
	text.WriteString(attachmentsIntro)
	folder := path.Join(memoryDir(run), "attachments")
	for _, file := range s.agents.chosen.Attachments {
		label := view.Code(file.Label, 100)
		switch {
		case file.Why != "":
			fmt.Fprintf(&text, "- %s, which is missing: %s\n", label, file.Why)
		case s.agents.chosen.Agent.Name == "command": // it may not read files
			fmt.Fprintf(&text, "- %s\n", label)
		default:
			fmt.Fprintf(&text, "- `%s/%s` (%s)\n", folder, file.Name, label)
			memory := workspace.Memory{Tree: dir, Dir: folder}
			if err := memory.WriteFile(file.Name, file.Data); err != nil {
				return "", err
			}
		}
	}
	return text.String(), s.job.Machine.Sandbox.Lend(ctx, dir, memoryDir(run))
}

// removeInstructions removes those of the branch that are not the base's until the returned function runs.
func (s *activeRun) removeInstructions(ctx context.Context, run journal.Run) (func(context.Context) error, error) {
	if !s.tree.worksInClone() {
		return func(context.Context) error { return nil }, nil
	}
	tree, err := s.tree.open(ctx)
	if err != nil {
		return nil, err
	}
	return instructions.Removal{
		Trusted: s.repo.trusted,
		Tree:    tree,
		Base:    run.Base,
		Head:    run.Head,
		Lend: func(ctx context.Context, name string) error {
			return s.job.Machine.Sandbox.Lend(ctx, tree.Dir, name)
		},
	}.Apply(ctx)
}

const diffChars = 5000

func truncate(text string, chars int) string {
	runes := []rune(text)
	if len(runes) <= chars {
		return text
	}
	return string(runes[:chars]) + "\n... [truncated]"
}

// BasePrompt returns the text on which a run's prompts are based: the request, or the project's
// own prompt for stories. It reads the file each time, as people edit it during the loop.
func BasePrompt(run journal.Run, project string) (string, error) {
	if run.Policy.Done == policy.ByStories {
		if project == "" {
			return "", nil
		}
		return workspace.Memory{Tree: project, Dir: memoryDir(run)}.Prompt()
	}
	name := run.Policy.PromptFile
	if name == "" {
		return run.Task.Body, nil
	}
	text, err := workspace.ReadText(name)
	if err != nil {
		return "", fault.Usage("cannot read the prompt file "+name, "put it back, or name another with -f", err)
	}
	return text, nil
}
