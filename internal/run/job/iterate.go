package job

import (
	"cmp"
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

func (s *turns) iterate(ctx context.Context, run journal.Run, step verdict.Iterate, emit emit) error {
	dir, err := s.folder(ctx)
	if err != nil {
		return err
	}
	if err := s.runSetup(ctx, run, step.Number, emit); err != nil {
		return err
	}
	if err := s.writeMemory(ctx, dir, run, s.joinPlan(dir, run, emit)); err != nil {
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
	attached, err := s.saveText(fmt.Sprintf("prompt_%d.md", step.Number), text)
	if err != nil {
		return err
	}
	log, err := s.prepareLog(ctx, dir, run, emit)
	if err != nil {
		return err
	}
	emit(journal.IterationBegan{Number: step.Number, Story: step.Story, Prompt: attached, Log: log})
	hand := s.agentAt(run, dir)
	hand.Open = s.home.Create
	open, _ := s.Run().OpenIteration()
	restore, err := s.removeInstructions(ctx, run)
	if err != nil {
		return err
	}
	var tags []string // each completes the run if it stands alone on a line
	if run.Policy.Done == policy.ByTag {
		tags = []string{run.Policy.Word}
	}
	ended, err := s.runAgent(ctx, hand, agent.Order{
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

// warnOfLimits says before the work that dollars are not bounded, unless ralph's model server counts them. Where
// nothing reports them either, their default limit does not count, another one is refused, and there has to be a
// limit of time.
func (s *turns) warnOfLimits() error {
	limits := s.Run().Policy.Limits
	if s.Supervised != nil || s.Agent.Counted || limits.CostUSD == 0 {
		return nil
	}
	if s.Agent.ReportsUsage && len(s.Agent.Hosts) == 0 { // it asks no model
		return nil
	}
	what := "dollars are not bounded: the requests of " + s.Agent.Name + " do not pass ralph's model server"
	if s.Agent.ReportsUsage {
		return s.Append(journal.Noted{
			What: what + fmt.Sprintf("; the run ends after the turn that exceeds $%.2f", limits.CostUSD),
			Hint: "give the agent a key, in the sandbox, or limit the time of a turn: agent.timeout",
		})
	}
	what += ", and it reports no usage"
	if limits.CostUSD != policy.ForPreset(policy.ByStories).Limits.CostUSD {
		fix := "leave max-cost out, and limit the time: limits.maxTime"
		return fault.Usage(what+", so max-cost cannot hold", fix, nil)
	}
	if limits.Run == 0 {
		return fault.Usage(what, "limit the time: limits.maxTime", nil)
	}
	return s.Append(journal.Noted{
		What: what,
		Hint: "limits.maxTime ends the run after " + policy.FormatDuration(limits.Run.Std()),
	})
}

func (s *turns) promptText(ctx context.Context, run journal.Run, step verdict.Iterate) (string, error) {
	base, err := BasePrompt(run, s.Project)
	if err != nil {
		return "", err
	}
	turn := prompt.Turn{Number: step.Number, Story: step.Story, Base: base}
	if run.Policy.Done == policy.ByTag {
		diff, err := s.diff(ctx, run, 4*diffChars)
		if err != nil {
			return "", err
		}
		turn.Progress = s.redacted(view.Progress(run))
		turn.Diff = truncate(s.redacted(diff), diffChars) // after redaction, which does not find half a secret
	}
	text, err := prompt.ForTurn(run, turn)
	if err != nil {
		return "", err
	}
	return s.guidance(ctx, run) + text, nil
}

const attachmentsIntro = "\n## Attached to the issue\n\n" +
	"People attached these files. They are context, as the text of the issue is.\n\n"

// writeAttachments writes the attachments for the agent, and returns their list for the prompt.
func (s *turns) writeAttachments(ctx context.Context, dir string, run journal.Run) (string, error) {
	if len(s.Attachments) == 0 {
		return "", nil
	}
	text := strings.Builder{}
	text.WriteString(attachmentsIntro)
	folder := path.Join(memoryDir(run), "attachments")
	for _, file := range s.Attachments {
		label := view.Code(file.Label, 100)
		switch {
		case file.Why != "":
			fmt.Fprintf(&text, "- %s, which is missing: %s\n", label, file.Why)
		case s.Agent.Name == "command": // it may not read files
			fmt.Fprintf(&text, "- %s\n", label)
		default:
			fmt.Fprintf(&text, "- `%s/%s` (%s)\n", folder, file.Name, label)
			memory := workspace.Memory{Tree: dir, Dir: folder}
			if err := memory.WriteFile(file.Name, file.Data); err != nil {
				return "", err
			}
		}
	}
	return text.String(), s.Sandbox.Lend(ctx, dir, memoryDir(run))
}

// guidance returns the base's instructions for agents. A failure to read them does not stop the work.
func (s *turns) guidance(ctx context.Context, run journal.Run) string {
	if s.guide != nil {
		return *s.guide
	}
	var source instructions.Source
	var err error
	switch {
	case run.Base == "":
		source = instructions.OfFolder(cmp.Or(s.Dir, s.Project))
	case s.trusted != nil:
		source, err = instructions.OfCommit(ctx, s.trusted.Do, run.Base)
	case s.UserTree != nil:
		source, err = instructions.OfCommit(ctx, s.UserTree.Do, run.Base)
	}
	if err != nil {
		s.Log("the project's instructions for agents were not read: " + fault.Told(err))
		return ""
	}
	s.guide = new(source.Text())
	return *s.guide
}

// removeInstructions removes those of the branch that are not the base's until the returned function runs.
func (s *turns) removeInstructions(ctx context.Context, run journal.Run) (func(context.Context) error, error) {
	if !s.worksInClone() {
		return func(context.Context) error { return nil }, nil
	}
	tree, err := s.tree(ctx)
	if err != nil {
		return nil, err
	}
	return instructions.Removal{
		Trusted: s.trusted,
		Tree:    tree,
		Base:    run.Base,
		Head:    run.Head,
		Lend:    func(ctx context.Context, name string) error { return s.Sandbox.Lend(ctx, tree.Dir, name) },
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
