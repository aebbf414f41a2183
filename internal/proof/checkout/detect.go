package checkout

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/proof/survey"
)

const largestSurveyed = 1 << 20 // larger than any real file that suggests checks

// Surveyed returns what the files of a commit suggest as checks and setup. Links and files that are too large
// count as missing. Git lists the commit once: a project can have thousands of folders.
func Surveyed(ctx context.Context, trusted *git.Trusted, at git.At) (survey.Found, error) {
	commit := reader{ctx: ctx, trusted: trusted, commit: at.Commit, texts: map[string][]byte{}}
	if err := commit.list(); err != nil {
		return survey.Found{}, err
	}
	folders := map[string][]string{}
	for name, entry := range commit.entries {
		folder, base := path.Dir(name), path.Base(name)
		if entry.Mode == "" {
			base += "/"
		}
		folders[folder] = append(folders[folder], base)
	}
	found := survey.Read(survey.Source{
		List: func(folder string) []string {
			return slices.Sorted(slices.Values(folders[path.Join(".", at.Path, folder)]))
		},
		Read: func(name string) []byte { return commit.file(path.Join(at.Path, name)) },
	})
	return found, errors.Join(commit.err, ctx.Err())
}

// Detect fills in the checks that were found, if none are configured.
func Detect(p policy.Policy, found survey.Found) (policy.Policy, []journal.Noted) {
	if slices.ContainsFunc(p.Checks, func(check policy.Check) bool { return !check.Added }) {
		return p, nil
	}
	if len(found.Checks) == 0 {
		return p, nil
	}
	p.Checks = slices.Concat(detected(found.Checks, policy.NewChecks), p.Checks)
	what := "no checks are configured; the base's files suggest " + words(found.Checks)
	if len(p.Setup) == 0 && len(found.Setup) > 0 {
		p.Setup = detected(found.Setup, policy.NewSetup)
		what += ", after " + words(found.Setup)
	}
	hint := "name them in `guardrails` of `.ralph/settings.json`"
	if p.Publish && !p.NoPull { // in a job
		hint = "name them in the input `checks`, or in `guardrails` of `.ralph/settings.json`"
	}
	return p, []journal.Noted{{What: what, Hint: hint}}
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
