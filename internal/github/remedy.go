package github

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
)

// remedy says what to try, where we know; input is where the token comes from.
func (a act) remedy(input string, e *Error, err error) error {
	if _, known := errors.AsType[*fault.Fault](err); known {
		return fmt.Errorf("%s: %w", a.what, err)
	}
	if fix := a.fix(input, e); fix != "" {
		return &fault.Fault{What: a.what, Fix: fix, Exit: fault.ExitUsage, Err: e}
	}
	return fmt.Errorf("%s: %w", a.what, e)
}

func (a act) fix(input string, e *Error) string {
	switch {
	case e.Kind == Unauthorized:
		return "the token is wrong or has expired: give a new `" + input + "`, or an App with `app-id` and `app-private-key`"
	case e.Kind == RateLimited:
		return "wait for GitHub's limit to be lifted, or give an App with `app-id` and `app-private-key`, which has a limit of its own"
	case e.Kind != Forbidden:
		return ""
	case strings.Contains(e.Message, "not permitted to create or approve pull requests"):
		return "allow GitHub Actions to create pull requests in Settings → Actions → General, or give an App or `ci-token`"
	case strings.Contains(e.Message, "issue is locked"):
		return "unlock the conversation, or have it worked on by a `github-token` that may write there"
	case strings.Contains(e.Message, "was archived"):
		return "take the repository out of the archive"
	case strings.Contains(e.Message, "SAML"):
		return "authorize the token for the organization's single sign-on"
	case strings.Contains(e.Message, "not accessible by") && a.needs != "":
		return "add `" + a.needs + "` under `permissions:` of the job, or to what the token or App may do"
	}
	return ""
}
