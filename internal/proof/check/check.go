// Package check runs a project's checks. Each check is a shell command in its own session; the result is an event with
// its exit code, output and tests. It does not verify the work.
package check

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/shell"
	"github.com/ralph-loop/ralph/internal/proof/results"
	"github.com/ralph-loop/ralph/internal/proof/suite"
)

// Hand runs checks.
type Hand struct {
	Run func(context.Context, process.Command) (process.Result, error)
	Env []string
	// Grace is the time between SIGTERM and SIGKILL; 0 means the default.
	Grace time.Duration
	Log   func(name string) (io.WriteCloser, error) // opens the file that keeps a check's output
	// Veil removes secrets from the kept output, whose digest is recorded.
	Veil func(io.Writer) io.WriteCloser
	// Folder is the log's folder, as people see it.
	Folder string
	// Patience returns the time left for a check, if that is less than its own. May be nil.
	Patience func(time.Duration) time.Duration
	// Began is called before a "check" or a command of "setup" runs, also "again: check", "trial: check". May be nil.
	Began func(kind string, check policy.Check)
}

// Job is a set of checks on one tree.
type Job struct {
	Where  journal.Where
	Dir    string
	Commit string
	Label  string // names the logs: "3", "base", "3_proof"
	Checks []policy.Check
	// Excerpt limits the part of an output for the next prompt and the views.
	Excerpt policy.Excerpt
	// Only reports whether a check runs. If it is nil, all run.
	Only func(check string) bool
	// Skip reports whether a check does not concern the change. May be nil.
	Skip func(policy.Check) bool
	// Second is set if the checks ran before: their logs get other names.
	Second bool
	// Call finds the runner of a command. If it is nil, only the command's own words count.
	Call func(command string) (suite.Call, error)
	// Files are the only test files that a check runs, by its name. A check without any runs all tests.
	Files map[string][]string
	// Reports makes a folder for the reports of a check, and returns what reads them. It may be nil.
	Reports func(check string) (folder string, read func() (results.Results, error), err error)
	kind    string // for Began, if these are not checks
}

// Do runs every check of job in order, also after a failure.
func (h Hand) Do(ctx context.Context, job Job, emit func(journal.Event)) error {
	taken := map[string]bool{}
	for _, check := range job.Checks {
		slug := free(Slug(check.Command), taken)
		taken[slug] = true
		if job.Only != nil && !job.Only(check.Name) {
			continue
		}
		if job.Skip != nil && job.Skip(check) {
			emit(journal.CheckEnded{
				Where:   job.Where,
				Name:    check.Name,
				Command: check.Command,
				Commit:  job.Commit,
				Skipped: check.Paths,
			})
			continue
		}
		log := "guardrail_" + job.Label + "_" + slug
		if job.Second {
			log += "-again"
		}
		ended, err := h.runCheck(ctx, job, check, log)
		if err != nil {
			return fmt.Errorf("run check %s: %w", check.Name, err)
		}
		emit(ended)
	}
	return nil
}

// free adds a number to a log's name if it exists.
func free(slug string, taken map[string]bool) string {
	unique := slug
	for i := 2; taken[unique]; i++ {
		unique = fmt.Sprintf("%s_%d", slug, i)
	}
	return unique
}

// what names what begins. No event follows with the result of a repetition or a trial.
func (j Job) what() string {
	kind := cmp.Or(j.kind, "check")
	switch {
	case j.Second:
		return "again: " + kind
	case j.Where == journal.AtTrial:
		return "trial: " + kind
	}
	return kind
}

func (h Hand) runCheck(ctx context.Context, job Job, check policy.Check, log string) (journal.CheckEnded, error) {
	call, err := job.call(check)
	if err != nil {
		return journal.CheckEnded{}, err
	}
	env := job.env(h.Env)
	reports := noReports
	if job.Reports != nil && job.kind == "" {
		folder, read, err := job.Reports(check.Name)
		if err != nil {
			return journal.CheckEnded{}, err
		}
		env = reporting(env, call, folder)
		reports = read
	}
	if h.Began != nil {
		h.Began(job.what(), check)
	}
	output, err := h.open(job, call, log)
	if err != nil {
		return journal.CheckEnded{}, err
	}
	result, err := h.Run(ctx, process.Command{
		Argv:    []string{"sh", "-c", call.Text(job.Files[check.Name])},
		Dir:     job.Dir,
		Env:     env,
		Stdout:  output.to,
		Stderr:  output.to,
		Timeout: h.timeout(check),
		Grace:   h.Grace,
	})
	if err := errors.Join(err, output.close()); err != nil {
		return journal.CheckEnded{}, err
	}
	found, err := reports()
	if err != nil {
		return journal.CheckEnded{}, err
	}
	if output.goTest != nil {
		found = output.goTest.found
	}
	ended := journal.CheckEnded{
		Where:    job.Where,
		Name:     check.Name,
		Command:  check.Command,
		Commit:   job.Commit,
		Exit:     result.Exit,
		Passed:   result.Exit == 0 && !result.TimedOut,
		TimedOut: result.TimedOut,
		TookMS:   result.Took.Milliseconds(),
		Log:      path.Join(h.Folder, log+".log"),
		Digest:   output.digest(),
		Excerpt:  output.excerpt(),
	}
	ended.Tests, err = h.tests(found, log+".tests")
	if err != nil || ended.Passed {
		return ended, err
	}
	if ended.TimedOut || ctx.Err() != nil {
		return ended, nil //nolint:nilerr // the check has ended; who asked finds the end of the context
	}
	ended.NoFile, err = h.NoFile(ctx, job, check.Command)
	if err != nil {
		return ended, err
	}
	ended.CannotRun = ended.NoFile == "" && (result.Exit == 126 || result.Exit == 127)
	if ended.CannotRun {
		ended.Missing, err = h.missing(ctx, job, check.Command)
	}
	return ended, err
}

func noReports() (results.Results, error) { return results.Results{}, nil }

func (j Job) call(check policy.Check) (suite.Call, error) {
	if j.kind != "" { // setup runs as it is
		return suite.Plain(check.Command), nil
	}
	if j.Call != nil {
		return j.Call(check.Command)
	}
	none := suite.Source{Script: func(string) string { return "" }, Reads: func(string) bool { return false }}
	return suite.CallOf(check.Command, none), nil
}

// output takes what a command prints: into a log without secrets, an excerpt, and results by name.
type output struct {
	to      io.Writer
	goTest  *goTest
	close   func() error
	digest  func() string
	excerpt func() string
}

// open opens the log of a check. A secret that the excerpt cut off would not be recognized, so it is hidden before.
func (h Hand) open(job Job, call suite.Call, log string) (output, error) {
	file, err := h.Log(log + ".log")
	if err != nil {
		return output{}, err
	}
	sum := sha256.New()
	kept, excerpt := newExcerpt(job.Excerpt)
	shown := &withoutProgress{to: kept}
	written := &capped{to: io.MultiWriter(file, sum), left: keptHead, tail: process.Tail{N: keptTail}}
	hidden := h.Veil(io.MultiWriter(written, shown))
	out := output{to: hidden, excerpt: excerpt, digest: func() string { return hex.EncodeToString(sum.Sum(nil)) }}
	closers := []io.Closer{hidden, shown, written, file}
	if call.IsGo() {
		out.goTest = newGoTest(hidden)
		out.to = out.goTest
		closers = append([]io.Closer{out.goTest}, closers...)
	}
	out.close = func() error {
		var err error
		for _, closer := range closers {
			err = errors.Join(err, closer.Close())
		}
		return err
	}
	return out, nil
}

// packageRunners are the programs that run what the packages of package.json have.
var packageRunners = []string{"npm", "npx", "pnpm", "yarn", "bun", "bunx"}

// missing returns what a check that could not start lacks. At the base, where only setup installs packages, that can be
// those of package.json.
func (h Hand) missing(ctx context.Context, job Job, command string) (string, error) {
	runsPackages := false
	for _, program := range shell.Programs(command) {
		missing, err := h.isMissing(ctx, job, program)
		if missing || err != nil {
			return program, err
		}
		if slices.Contains(packageRunners, program) {
			runsPackages = true
		}
	}
	if !runsPackages || job.Where != journal.AtBase {
		return "", nil
	}
	uninstalled, err := h.ask(ctx, job, `test -e package.json && ! test -e "$1"`, journal.NodeModules)
	if uninstalled {
		return journal.NodeModules, err
	}
	return "", err
}

// FirstMissing returns the first program of a command if it is not installed.
func (h Hand) FirstMissing(ctx context.Context, job Job, command string) (string, error) {
	programs := shell.Programs(command)
	if len(programs) == 0 {
		return "", nil
	}
	missing, err := h.isMissing(ctx, job, programs[0])
	if !missing || err != nil {
		return "", err
	}
	return programs[0], nil
}

// isMissing asks the shell for a program, because the errors of shells differ. A path is not missing, as the work may
// add such a file.
func (h Hand) isMissing(ctx context.Context, job Job, program string) (bool, error) {
	if strings.Contains(program, "/") {
		return false, nil
	}
	return h.ask(ctx, job, `! command -v "$1"`, program)
}

// NoFile returns the file of the project that a command runs, if it does not exist.
func (h Hand) NoFile(ctx context.Context, job Job, command string) (string, error) {
	file := shell.Script(command)
	if !filepath.IsLocal(file) {
		return "", nil
	}
	missing, err := h.ask(ctx, job, `! test -e "$1"`, file)
	if !missing || err != nil {
		return "", err
	}
	return file, nil
}

// ask returns the answer of a shell where the checks run.
func (h Hand) ask(ctx context.Context, job Job, question, word string) (bool, error) {
	result, err := h.Run(ctx, process.Command{
		Argv:    []string{"sh", "-c", question, "sh", word},
		Dir:     job.Dir,
		Env:     job.env(h.Env),
		Timeout: 10 * time.Second,
		Grace:   h.Grace,
	})
	if err != nil {
		return false, err
	}
	return result.Exit == 0 && !result.TimedOut, nil
}

func (h Hand) timeout(check policy.Check) time.Duration {
	if h.Patience == nil {
		return check.Timeout.Std()
	}
	return h.Patience(check.Timeout.Std())
}

// Slug turns a command into a part of a file's name: letters, digits and underscores, 1 to 50 characters.
func Slug(command string) string {
	words := strings.FieldsFunc(command, func(r rune) bool {
		return r > unicode.MaxASCII || (!unicode.IsLetter(r) && !unicode.IsDigit(r))
	})
	slug := strings.Join(words, "_")
	if slug == "" {
		return "check"
	}
	return strings.TrimRight(slug[:min(len(slug), 50)], "_")
}
