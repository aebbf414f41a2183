package laptop

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// sandboxed names the mark of a folder in which an agent was confined, mostly the top of a
// repository. It lies in the user's state folder, where no commit and no agent can write. It has
// a line for each project, each file of --config and each PRD: a digest of its name, and one of
// what it said at the newest run. An empty file of that name in git's own folder marks the other
// worktrees, and the repository after it was moved.
const sandboxed = "ralph-sandboxed"

// noteSettings notes the settings of the project, alone or with a file of --config.
func (d *Project) noteSettings(file string, all ...config.File) {
	way, _ := filepath.Rel(d.top(), d.ProjectDir) // both are whole
	var texts []string
	for _, f := range all {
		texts = append(texts, string(f.Data))
	}
	d.config[digest(way, file)] = []string{strings.Join(texts, "\x00")}
}

// notePlan notes what a PRD says of how work is judged: its checks, and whether stories pass, need no
// test or may change tests.
func (d *Project) notePlan(memory string, p plan.Plan) {
	says := []string{""} // no checks
	if len(p.VerifyCommands) > 0 {
		says[0] = "checks\x00" + strings.Join(p.VerifyCommands, "\x00")
	}
	for _, s := range p.UserStories {
		story := strings.Join(append([]string{s.ID, s.Title, s.Description}, s.AcceptanceCriteria...), "\x00")
		for what, is := range map[string]bool{"passes": s.Passes, "no test": s.Untested(), "changes tests": s.MayChangeTests} {
			if is {
				says = append(says, what+"\x00"+story)
			}
		}
	}
	d.config[digest(memory, "prd.json")] = says
}

// settingLines returns the lines of the run's settings in the mark.
func (d *Project) settingLines() (lines []string) {
	for about, says := range d.config {
		for _, text := range says {
			lines = append(lines, about+":"+digest(text))
		}
	}
	return lines
}

func digest(of ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(of, "\x00")))
	return hex.EncodeToString(sum[:])
}

// top returns the folder with the mark: that of the repository, readable or not, or the project's.
func (d *Project) top() string {
	if d.Place != nil {
		return d.Place.Top
	}
	return guarded.Around(d.ProjectDir)
}

// markFile returns where a folder's mark lies; empty: the user has no home.
func (w World) markFile(dir string) string {
	own := workspace.UserStateDir(w.Getenv("HOME"))
	if own == "" {
		return ""
	}
	return filepath.Join(own, sandboxed, digest(dir))
}

// confined reports a folder with a mark, also a repository that was moved. What cannot be told has none.
func (w World) confined(dir string) bool {
	return slices.ContainsFunc([]string{w.markFile(dir), filepath.Join(dir, ".git", sandboxed)}, func(mark string) bool {
		_, err := os.Lstat(mark)
		return err == nil
	})
}

// marksOf returns the lines of a folder's mark. What cannot be told may be one.
func (d *Project) marksOf(ctx context.Context, dir string) (lines []string, marked bool) {
	if file := d.World.markFile(dir); file != "" {
		text, err := untrusted.ReadFile(file, 16<<20)
		lines, marked = strings.Fields(string(text)), !errors.Is(err, fs.ErrNotExist)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); marked || err != nil {
		return lines, marked
	}
	common, err := d.Tool.Common(ctx, dir)
	if err == nil {
		_, err = os.Lstat(filepath.Join(common, sandboxed))
	}
	return nil, !errors.Is(err, fs.ErrNotExist)
}

// mark marks the project's folder and its repository. It replaces the settings of earlier runs in the mark by
// those of this one, if it has some.
func (d *Project) mark(ctx context.Context) error {
	if d.Place != nil {
		err := guarded.Extend(d.Place.Common(), sandboxed, func(*os.File) error { return nil })
		if errors.Is(err, fs.ErrNotExist) {
			return job.MovedAside(filepath.Join(d.Place.Top, ".git"))
		}
		if err != nil {
			return fmt.Errorf("mark %s: %w", d.Place.Top, err)
		}
	}
	file := d.World.markFile(d.top())
	if _, err := os.Lstat(file); file == "" || err == nil && d.config == nil {
		return nil
	}
	lines, _ := d.marksOf(ctx, d.top())
	for about := range d.config {
		lines = slices.DeleteFunc(lines, func(old string) bool { return strings.HasPrefix(old, about+":") })
	}
	lines = append(lines, d.settingLines()...)
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = untrusted.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600)
	}
	if err != nil && d.Place == nil { // a repository has a mark without lines
		return fmt.Errorf("mark %s: %w", d.top(), err)
	}
	return nil
}

// openings names the settings by which a program runs outside of the sandbox, or reaches what is the user's.
func openings(s config.Settings) (names []string) {
	add := func(name string, is bool) {
		if is {
			names = append(names, name)
		}
	}
	opensFile := func(line string) bool { // beside the program: see confine.Program
		words, _ := agent.Words(line)
		return len(words) > 1 && slices.ContainsFunc(words[1:], filepath.IsAbs)
	}
	add("scm.tasks", s.SCM != nil && slices.ContainsFunc(s.SCM.Tasks, func(task string) bool {
		words, _ := agent.Words(task)
		return !job.IsLocal(append([]string{s.SCM.Command}, words...))
	}))
	add("agent.command", opensFile(s.Agent.Command))
	add("agent.flags", slices.ContainsFunc(s.Agent.Flags, func(flag string) bool { return opensFile("agent " + flag) }))
	add("review.agent", opensFile(s.Review.Agent))
	add("sandbox.env", len(s.Sandbox.Env) > 0)
	add("checkSecrets", len(s.CheckSecrets) > 0)
	add("services", len(s.Services) > 0)
	return names
}

// Trusted refuses settings that are not those of the newest run, if an agent was ever confined here. A file
// without a line in the mark may be empty. Elsewhere it refuses those that open the sandbox of --sandbox.
func (d *Project) Trusted(ctx context.Context) error {
	marks, marked := d.marks(ctx)
	if !marked {
		if names := openings(d.Settings); len(names) > 0 && d.Sandbox != "" && d.Sandbox != sandbox.None && !d.Trust {
			return fault.Usage("settings of the project open the sandbox: "+strings.Join(names, ", "),
				"read .ralph/settings.json, .ralph/settings.local.json and .git/config; if they are as you want them, repeat the command with --trust", nil)
		}
		return nil
	}
	changed := slices.ContainsFunc(d.settingLines(), func(line string) bool {
		about, _, _ := strings.Cut(line, ":")
		isNew := !slices.ContainsFunc(marks, func(mark string) bool { return strings.HasPrefix(mark, about+":") })
		return !slices.Contains(marks, line) && (!isNew || line != about+":"+digest(""))
	})
	switch {
	case !changed:
		return nil
	case d.Trust:
		return d.mark(ctx)
	}
	return fault.Usage("the settings are not those of the newest run here: a commit or an agent may have changed them",
		"read .ralph/settings.json, .ralph/settings.local.json, the file of --config and the PRD; if they are as you want them, repeat the command with --trust", nil)
}

// Stories returns the plan of a PRD, which judges the work as settings do.
func (d *Project) Stories(ctx context.Context, memory string) (plan.Plan, string, error) {
	stories, file, err := d.PRD(memory)
	if err != nil || d.DryRun {
		return stories, file, err
	}
	d.notePlan(path.Join(d.Within(), filepath.ToSlash(memory)), stories)
	return stories, file, d.Trusted(ctx)
}

// notePassed adds a passed story to the mark, before the PRD says so.
func (d *Project) notePassed(ctx context.Context, sb *confine.Sandbox, run journal.Run, event journal.Event) {
	switch event.(type) { //nolint:gochecksumtype // nothing else passes a story
	case journal.IterationEnded, journal.Joined:
	default:
		return
	}
	if run.Policy.Done != policy.ByStories {
		return
	}
	d.notePlan(cmp.Or(run.Policy.Memory, workspace.MemoryDir), run.Plan)
	if err := d.markConfined(ctx, sb); err != nil {
		d.line(err.Error())
	}
}

// marks returns the lines of the project's mark. Repositories within a marked folder count as marked:
// the agent may have made them.
func (d *Project) marks(ctx context.Context) (lines []string, marked bool) {
	dir := d.top()
	lines, marked = d.marksOf(ctx, dir)
	for ; !marked && dir != filepath.Dir(dir); _, marked = d.marksOf(ctx, dir) {
		dir = filepath.Dir(dir)
	}
	return lines, marked
}

// LevelOfChecks returns the sandbox level of checks without an agent: that of a run.
func (d *Project) LevelOfChecks(ctx context.Context) (sandbox.Level, error) {
	if err := d.Trusted(ctx); err != nil {
		return "", err
	}
	level, err := d.Wanted()
	if level == InDocker { // checks do not run in Docker's
		return sandbox.None, nil
	}
	return level, err
}

// markConfined marks the project's folder for a run, unless no agent was ever confined there.
func (d *Project) markConfined(ctx context.Context, sb *confine.Sandbox) error {
	if _, marked := d.marks(ctx); !marked && sb == nil {
		return nil
	}
	return d.mark(ctx)
}

// checkVouched returns a run whose journal ralph wrote here, or that the user accepts.
func (d *Project) checkVouched(home workspace.Run) (workspace.Run, error) {
	if d.Trust {
		return home.Accept(), nil
	}
	if d.runs().IsVouched(home) {
		return home, nil
	}
	return home, workspace.UnvouchedError(home.ID, "ralph resume --trust")
}
