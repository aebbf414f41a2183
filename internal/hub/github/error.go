package github

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	gh "github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/jsontree"
)

// Kind is what went wrong, for errors.Is(err, github.NotFound). The set is closed.
type Kind string

// What can go wrong.
const (
	NotFound     Kind = "not found"     // or hidden from us: GitHub answers both alike
	Forbidden    Kind = "forbidden"     // we are known and may not
	Unauthorized Kind = "unauthorized"  // the token is wrong or has expired
	RateLimited  Kind = "rate limited"  // too many calls, and too long to wait for
	Refused      Kind = "refused"       // the request makes no sense to GitHub
	Unavailable  Kind = "not available" // no answer, half an answer, or a server in trouble
)

func (k Kind) Error() string { return string(k) }

// Withheld reports an error for what GitHub hides from us, or does not have.
func Withheld(err error) bool { return errors.Is(err, Forbidden) || errors.Is(err, NotFound) }

// Error is GitHub's answer to a call that did not work, or the lack of one.
type Error struct {
	Kind    Kind
	Status  int           // of the answer; 0 where there was none
	Message string        // GitHub's own words, on one line, without our token
	Wait    time.Duration // until trying again makes sense; 0 where GitHub does not say

	cause error
}

// Error returns GitHub's answer in one line.
func (e *Error) Error() string {
	if e.Status == 0 {
		return "no answer from github: " + e.Message
	}
	text := fmt.Sprintf("github answers %d", e.Status)
	if e.Message == "" {
		return text + " " + http.StatusText(e.Status)
	}
	return text + ": " + e.Message
}

// Unreached reports whether no answer came, although the caller did not cancel.
func (e *Error) Unreached() bool {
	return e.Status == 0 && e.Kind == Unavailable && !errors.Is(e.cause, context.Canceled)
}

// Unwrap returns the kind, and the cause where no answer came.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.cause}
}

func errorOf(err error) *Error {
	if known, ok := errors.AsType[*Error](err); ok {
		return known
	}
	status, header, text := answerOf(err)
	if status == 0 {
		return &Error{Kind: Unavailable, Message: oneLine(err.Error()), cause: err}
	}
	wait := waitOf(header)
	if e, ok := errors.AsType[*gh.AbuseRateLimitError](err); ok {
		wait = cmp.Or(wait, e.GetRetryAfter())
	}
	return &Error{Kind: kindOf(status, header, text), Status: status, Message: oneLine(text), Wait: wait}
}

// answerOf returns GitHub's answer, or 0. While a limit holds that an earlier answer set, go-github
// makes up an answer without headers, whose message has the time to the nanosecond.
func answerOf(err error) (status int, header http.Header, text string) {
	if e, ok := errors.AsType[*gh.ErrorResponse](err); ok {
		return e.Response.StatusCode, e.Response.Header, problemText(e)
	}
	if e, ok := errors.AsType[*gh.RateLimitError](err); ok {
		text, _, _ = strings.Cut(e.Message, " until ")
		return e.Response.StatusCode, e.Response.Header, text
	}
	if e, ok := errors.AsType[*gh.AbuseRateLimitError](err); ok {
		text, _, _ = strings.Cut(e.Message, " until ")
		return e.Response.StatusCode, e.Response.Header, text
	}
	if e, ok := errors.AsType[*ghinstallation.HTTPError](err); ok && e.Response != nil {
		return e.Response.StatusCode, e.Response.Header, message(e.Response)
	}
	return 0, nil, ""
}

func problemText(e *gh.ErrorResponse) string {
	parts := []string{e.Message}
	for _, detail := range e.Errors {
		text := detail.Message
		if text == "" {
			text = strings.TrimSpace(detail.Resource + " " + detail.Field + " " + detail.Code)
		}
		parts = append(parts, text)
	}
	return strings.Trim(strings.Join(parts, "; "), "; ")
}

func kindOf(status int, header http.Header, text string) Kind {
	limited := header.Get("X-RateLimit-Remaining") == "0" || strings.Contains(text, "rate limit")
	switch {
	case status == http.StatusTooManyRequests, status == http.StatusForbidden && limited:
		return RateLimited
	case status == http.StatusUnauthorized:
		return Unauthorized
	case status == http.StatusForbidden:
		return Forbidden
	case status == http.StatusNotFound, status == http.StatusGone:
		return NotFound
	case status >= http.StatusInternalServerError:
		return Unavailable
	}
	return Refused
}

// waitOf returns the pause that GitHub asks for, by its own clock.
func waitOf(header http.Header) time.Duration {
	if seconds, err := strconv.Atoi(header.Get("Retry-After")); err == nil {
		return time.Duration(seconds) * time.Second
	}
	reset, err := strconv.ParseInt(header.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return 0
	}
	// A second more: both stamps are cut to the second.
	return max(0, time.Unix(reset, 0).Sub(now)) + time.Second
}

func oneLine(text string) string { return jsontree.Clip(clean.OneLine(text), 301) }

func message(resp *http.Response) string {
	defer resp.Body.Close() //nolint:errcheck // read, not written
	var answer struct{ Message string }
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err != nil || json.Unmarshal(body, &answer) != nil {
		return "" // a page for people, or half of one: the status says enough
	}
	return answer.Message
}

// hint says what to try; input is where the token comes from.
func (a operation) hint(input string, e *Error, err error) error {
	if _, known := errors.AsType[*fault.Fault](err); known {
		return fmt.Errorf("%s: %w", a.action, err)
	}
	if fix := a.permissionHint(input, e); fix != "" {
		return &fault.Fault{What: a.action, Fix: fix, Exit: fault.ExitUsage, Err: e}
	}
	return fmt.Errorf("%s: %w", a.action, e)
}

func (a operation) permissionHint(input string, e *Error) string {
	switch {
	case e.Unreached():
		return "check that this machine reaches GitHub, through https_proxy if there is a proxy, and try again"
	case e.Kind == Unauthorized:
		return "the token is wrong or has expired: give a new `" + input + "`, " +
			"or an App with `app-id` and `app-private-key`"
	case e.Kind == RateLimited:
		return "wait for GitHub's limit to be lifted, " +
			"or give an App with `app-id` and `app-private-key`, which has a limit of its own"
	case e.Kind != Forbidden:
		return ""
	case strings.Contains(e.Message, "not permitted to create or approve pull requests"):
		return "allow GitHub Actions to create pull requests in Settings → Actions → General, " +
			"or give an App or `ci-token`"
	case strings.Contains(e.Message, "issue is locked"):
		return "unlock the conversation, or use a `github-token` that may write there"
	case strings.Contains(e.Message, "was archived"):
		return "unarchive the repository"
	case strings.Contains(e.Message, "SAML"):
		return "authorize the token for the organization's single sign-on"
	case strings.Contains(e.Message, "not accessible by") && a.permission != "":
		return "add `" + a.permission + "` under `permissions:` of the job, or to what the token or App may do"
	}
	return ""
}
