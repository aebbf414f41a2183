package doctor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// answerTimeout limits how long a program may take to print its version: some start a runtime first.
const answerTimeout = 20 * time.Second

// outsideDir is where programs are asked about themselves. In a project, its files could answer: a version manager
// (asdf, mise) behind a name on PATH starts what .tool-versions of the project names.
const outsideDir = "/"

// Agent says where the agent of a run is looked for.
type Agent struct {
	Name    string
	Options agent.Options
	Passed  string // why a run did not take others; empty: it was named, or is the first
	Environ []string
	Outside string // the PATH of programs that are started
	Dir     string
	Run     func(context.Context, process.Command) (process.Result, error)
}

// Look finds the agent, and asks it for its version and login.
func (a Agent) Look(ctx context.Context) Finding {
	found := Finding{What: "the agent " + a.Name}
	adapter, err := agent.Pick(a.Name, a.Options)
	if err != nil {
		return found.stopped(err)
	}
	found.Notes = slices.Clone(adapter.Notes)
	if a.Passed != "" {
		found.Notes = append(found.Notes, a.Passed+"; --agent NAME chooses another")
	}
	if hint := agent.TokenHint(a.Name, a.Environ); hint != "" {
		found.Notes = append(found.Notes, hint)
	}
	env := environ.Local(a.Environ, adapter.Vars...)
	path, err := adapter.Locate(env, a.Dir)
	if err != nil {
		return found.stopped(err)
	}
	argv := []string{path}
	if len(adapter.Version) > 0 {
		argv = append(argv, adapter.Version[1:]...)
	}
	if slices.ContainsFunc(argv, a.isInProject) {
		found.Notes = append(found.Notes, "version and login not checked: "+
			"the program is in the project, so doctor does not start it without a sandbox")
		return found
	}
	env = append(env, "PATH="+a.Outside, "PWD="+outsideDir)
	if len(adapter.Version) > 0 {
		version, err := a.version(ctx, argv, env)
		if err != nil {
			return found.stopped(err)
		}
		if version != "" {
			found.What += " " + version
		}
		if adapter.Tested != "" && version != adapter.Tested {
			found.Notes = append(found.Notes, "tested with "+adapter.Tested)
		}
	}
	if adapter.StatusCommand == nil {
		return found
	}
	status := append([]string{path}, adapter.StatusCommand[1:]...)
	var output bytes.Buffer
	ended, err := a.ask(ctx, status, slices.Concat(env, adapter.Env(agent.Order{})), &output, nil)
	if err != nil || ended.TimedOut { // it may have a key or a login all the same
		return found
	}
	if gap := adapter.ReadStatus(ended.Exit, output.Bytes()); gap != "" {
		return found.stopped(fault.Usage(gap, adapter.Login, nil))
	}
	return found
}

// isInProject reports a word of a command that names a file in the project.
func (a Agent) isInProject(word string) bool {
	if !filepath.IsAbs(word) {
		word = filepath.Join(a.Dir, word)
	}
	_, err := filepath.EvalSymlinks(word)
	return err == nil && process.Under(a.Dir, word)
}

// version asks a program for its version; empty: it prints none. One that cannot answer will not work.
func (a Agent) version(ctx context.Context, argv, env []string) (string, error) {
	var output bytes.Buffer
	ended, err := a.ask(ctx, argv, env, &output, &output)
	var gap string
	switch {
	case err != nil:
		gap = err.Error()
	case ended.TimedOut:
		gap = "it does not answer --version within " + answerTimeout.String()
	case ended.Exit != 0:
		lines := strings.Split(strings.TrimSpace(output.String()), "\n")
		gap = fmt.Sprintf("--version ends with exit code %d: %.200s", ended.Exit, lines[len(lines)-1])
	default:
		version, _ := agent.ReadVersion(output.String())
		return version, nil
	}
	return "", fault.Usage(gap, "start it by hand outside of the project and see what it prints", nil)
}

func (a Agent) ask(ctx context.Context, argv, env []string, output, problems io.Writer) (process.Result, error) {
	return a.Run(ctx, process.Command{
		Argv:    argv,
		Dir:     outsideDir,
		Env:     env,
		Stdout:  output,
		Stderr:  problems,
		Timeout: answerTimeout,
	})
}
