// Package check runs the project's checks, each a shell command in a session
// of its own, and reports what they said. It judges nothing.
package check

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/process"
)

// excerpt is how much of a check's output the next prompt and the views get:
// its end, where test runners say what is wrong.
const excerpt = 4000

// Hand runs checks.
type Hand struct {
	Run func(context.Context, process.Command) (process.Result, error)
	Env []string
	// Grace is what a check has to end politely; 0 stands for the usual.
	Grace time.Duration
	Log   func(name string) (io.WriteCloser, error) // opens the file that keeps a check's whole output
}

// Job is a set of checks on one tree.
type Job struct {
	Where  journal.Where
	Dir    string
	Commit string
	Label  string // names the logs: "3", "base", "3_proof"
	Checks []policy.Check
}

// Do runs every check of job, one after the other; a red one does not keep the
// rest from running.
func (h Hand) Do(ctx context.Context, job Job, emit func(journal.Event)) error {
	slugs := map[string]int{}
	for _, check := range job.Checks {
		slug := Slug(check.Command)
		if slugs[slug]++; slugs[slug] > 1 {
			slug = fmt.Sprintf("%s_%d", slug, slugs[slug])
		}
		ended, err := h.one(ctx, job, check, "guardrail_"+job.Label+"_"+slug+".log")
		if err != nil {
			return fmt.Errorf("run check %s: %w", check.Name, err)
		}
		emit(ended)
	}
	return nil
}

func (h Hand) one(ctx context.Context, job Job, check policy.Check, log string) (journal.CheckEnded, error) {
	file, err := h.Log(log)
	if err != nil {
		return journal.CheckEnded{}, err
	}
	digest, tail := sha256.New(), &process.Tail{N: excerpt}
	out := io.MultiWriter(file, digest, tail)
	result, err := h.Run(ctx, process.Command{
		Argv:    []string{"sh", "-c", check.Command},
		Dir:     job.Dir,
		Env:     h.Env,
		Stdout:  out,
		Stderr:  out,
		Timeout: check.Timeout.Std(),
		Grace:   h.Grace,
	})
	if err := errors.Join(err, file.Close()); err != nil {
		return journal.CheckEnded{}, err
	}
	return journal.CheckEnded{
		Where:     job.Where,
		Name:      check.Name,
		Command:   check.Command,
		Commit:    job.Commit,
		Exit:      result.Exit,
		Passed:    result.Exit == 0 && !result.TimedOut,
		TimedOut:  result.TimedOut,
		CannotRun: result.Exit == 126 || result.Exit == 127,
		TookMS:    result.Took.Milliseconds(),
		Log:       log,
		Digest:    hex.EncodeToString(digest.Sum(nil)),
		Excerpt:   tail.String(),
	}, nil
}

// Slug is command as part of a file's name: letters and digits, all else one
// underscore, at most 50 characters.
func Slug(command string) string {
	words := strings.FieldsFunc(command, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	slug := strings.Join(words, "_")
	return strings.TrimRight(slug[:min(len(slug), 50)], "_")
}
