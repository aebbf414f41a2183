package checkout

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/survey"
)

const largestSurveyed = 1 << 20 // larger than any real file that suggests checks

// Surveyed returns the files of a commit that suggest how its project is checked.
func Surveyed(ctx context.Context, trusted *git.Trusted, at git.At) (survey.Files, error) {
	if _, err := trusted.FolderNames(ctx, at); err != nil {
		return nil, err
	}
	// Links and files that are too large count as missing.
	below := func(name string) git.At { return git.At{Commit: at.Commit, Path: path.Join(at.Path, name)} }
	files := survey.Read(survey.Source{
		List: func(folder string) []string {
			names, _ := trusted.FolderNames(ctx, below(folder))
			return names
		},
		Read: func(name string) []byte {
			data, _ := trusted.ReadFile(ctx, below(name), largestSurveyed)
			return data
		},
	})
	return files, ctx.Err()
}

// Detect fills in the checks that a project's own files suggest, if none are configured.
func Detect(p policy.Policy, files survey.Files) (policy.Policy, []journal.Noted) {
	if slices.ContainsFunc(p.Checks, func(check policy.Check) bool { return !check.Added }) {
		return p, nil
	}
	found := files.Checks()
	if len(found) == 0 {
		return p, nil
	}
	p.Checks = slices.Concat(detected(found, policy.NewChecks), p.Checks)
	told := "no checks are configured; the base's files suggest " + words(found)
	if setup := files.Setup(); len(p.Setup) == 0 && len(setup) > 0 {
		p.Setup = detected(setup, policy.NewSetup)
		told += ", after " + words(setup)
	}
	hint := "name them in `guardrails` of `.ralph/settings.json`"
	if p.Publish { // in a job
		hint = "name them in the input `checks`, or in `guardrails` of `.ralph/settings.json`"
	}
	return p, []journal.Noted{{What: told, Hint: hint}}
}

func detected(found []survey.Command, made func([]string, policy.Duration) []policy.Check) []policy.Check {
	var commands []string
	for _, command := range found {
		commands = append(commands, command.Command)
	}
	checks := made(commands, policy.DefaultCheckTimeout)
	for i := range checks {
		checks[i].Detected = true
	}
	return checks
}

func words(found []survey.Command) string {
	var all []string
	for _, command := range found {
		all = append(all, fmt.Sprintf("%s (%s)", command.Command, command.From))
	}
	return strings.Join(all, ", ")
}
