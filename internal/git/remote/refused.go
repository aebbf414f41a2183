package remote

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// Error is a remote that did not do as it was asked.
type Error struct {
	Act    string // fetch, push
	Kind   error  // ErrAuth and its like, or nothing that is known
	Reason string // the remote's own words or git's, on one line
}

// Error returns what was asked, what it came to, and why.
func (e *Error) Error() string {
	var parts []string
	if e.Act != "" {
		parts = append(parts, e.Act)
	}
	if e.Kind != nil {
		parts = append(parts, e.Kind.Error())
	}
	if e.Reason != "" {
		parts = append(parts, e.Reason)
	}
	return strings.Join(parts, ": ")
}

// Unwrap gives the kind.
func (e *Error) Unwrap() error { return e.Kind }

var (
	// GitHub answers "not found" for what a token may not see.
	authWords = pattern.Of(`(?i)authentication failed|could not read (?:username|password)|terminal prompts disabled|` +
		`returned error: 40[134]|permission to \S+ denied|write access to repository not granted|` +
		`repository '.*' not found|repository not found`)
	busyWords   = pattern.Of(`returned error: (?:5\d\d|408|429)`)
	answerWords = pattern.Of(`returned error: \d`)
	// git says "unable to access" before all that curl says, in ever new words.
	networkWords = pattern.Of(`(?i)unable to access '|could ?n(?:o|')t (?:resolve|connect)|` +
		`connection (?:refused|reset|timed out|was closed)|timed out|early eof|` +
		`unexpected disconnect|hung up unexpectedly|rpc failed`)
	tooLarge = pattern.Of(`(?i)returned error: 413|HTTP 413`)
)

func (r Repository) judge(act string, err error) error {
	failed, ok := git.Answered(err)
	if !ok {
		return err
	}
	e := &Error{Act: act, Reason: r.inFull(r.hide(failed.Said), err)}
	hasAnswer := answerWords.MatchString(failed.Stderr)
	switch {
	case failed.TimedOut:
		e.Kind = ErrNetwork
		e.Reason = "it took too long"
	case tooLarge.MatchString(failed.Stderr):
		e.Kind = ErrRefused
		e.Reason = "it is more than the server, or a proxy before it, takes at once (HTTP 413)"
	case authWords.MatchString(failed.Stderr):
		e.Kind = ErrAuth
	case busyWords.MatchString(failed.Stderr):
		e.Kind = ErrNetwork
	case !hasAnswer && networkWords.MatchString(failed.Stderr):
		e.Kind = ErrNetwork
	}
	return withRemedy(e)
}

// refusal reads the reason from the table of a failed push.
func (r Repository) refusal(table string, err error) error {
	for line := range strings.Lines(table) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 || fields[0] != "!" {
			continue
		}
		why := git.OneLine(r.hide(fields[2]), 500)
		refused, byRemote := strings.CutPrefix(why, "[remote rejected] ")
		switch {
		case !byRemote:
			return &Error{Act: "push", Kind: ErrNonFastForward, Reason: why}
		case overtaken(refused):
			return &Error{Act: "push", Kind: ErrNonFastForward, Reason: refused}
		default:
			return withRemedy(&Error{Act: "push", Kind: ErrRefused, Reason: r.inFull(refused, err)})
		}
	}
	return r.judge("push", err)
}

// overtaken reports a branch that moved during the push, in the words of several versions.
func overtaken(why string) bool {
	return strings.Contains(why, "cannot lock ref") ||
		strings.Contains(why, "failed to update ref") ||
		strings.Contains(why, "non-fast-forward")
}

// inFull adds what the remote said in its own lines: GitHub's rules explain themselves there. Where one can read more
// comes last: it is long, and what is shown in one line is cut.
func (r Repository) inFull(why string, err error) string {
	failed, ok := git.Answered(err)
	if !ok {
		return why
	}
	all := []string{why}
	var links []string
	for line := range strings.Lines(failed.Stderr) {
		text, ok := strings.CutPrefix(line, "remote: ")
		if !ok {
			continue
		}
		text = strings.TrimLeft(strings.TrimPrefix(git.OneLine(r.hide(text), 300), "error: "), "-— ")
		if isProgress(text) || strings.Contains(why, text) {
			continue
		}
		if strings.Contains(text, "https://") {
			links = append(links, text)
			continue
		}
		all = append(all, text)
	}
	return git.OneLine(strings.Join(append(all, links...), "; "), 2000)
}

// isProgress reports a line that explains nothing.
func isProgress(line string) bool {
	return line == "" || strings.HasPrefix(line, "Resolving deltas") || strings.HasPrefix(line, "Trace: ")
}

var remedies = []struct {
	reason *pattern.Pattern
	fix    string
}{
	{
		pattern.Of("create or update workflow `[^`]*` without `workflows` permission"),
		"give a `ci-token`, or an App with `app-id` and `app-private-key`, that may write workflows " +
			"(`workflows: write`), which a job's own token never may",
	},
	{
		pattern.Of(`without .workflow. scope`),
		"give the token the scope `workflow`, or an App with `app-id` and `app-private-key`",
	},
	{
		pattern.Of(`PUSH PROTECTION|cannot contain secrets`),
		"remove the secret from the commits, or allow it on the page that GitHub names",
	},
	{
		pattern.Of(`must have verified signatures`),
		"set `github.commitSigning` to `github`",
	},
	{
		pattern.Of(`GH001|file size limit`),
		"remove the file from the commits, or keep it in Git LFS",
	},
	{
		pattern.Of(`GH013|rule violations`),
		"let ralph's token bypass the ruleset, or set `github.branchPrefix` to names that it does not cover",
	},
	{
		pattern.Of(`GH006|protected branch`),
		"let ralph's token push there, or set `github.branchPrefix` to names that are not protected",
	},
	{
		pattern.Of(`archived so it is read-only`),
		"unarchive the repository",
	},
	{
		pattern.Of(`HTTP 413`),
		"ask the administrator of the server or proxy to allow larger requests",
	},
	{
		pattern.Of(`(?i)permission to \S+ denied|write access to repository not granted`),
		"add `contents: write` under `permissions:` of the job, or to what the token or App may do",
	},
}

func withRemedy(e *Error) error {
	for _, r := range remedies {
		if r.reason.MatchString(e.Reason) {
			cause := *e
			cause.Act = ""
			return fault.Usage(e.Act, r.fix, &cause)
		}
	}
	return e
}
