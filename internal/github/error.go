package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/bradleyfalzon/ghinstallation/v2"
	gh "github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fault"
)

// Kind is what went wrong, for errors.Is(err, github.NotFound). The set is closed.
type Kind string

// What can go wrong.
const (
	NotFound     Kind = "not found"     // or hidden from us, which GitHub does not tell apart
	Forbidden    Kind = "forbidden"     // we are known and may not
	Unauthorized Kind = "unauthorized"  // the token is wrong or has expired
	RateLimited  Kind = "rate limited"  // too many calls, and too long to wait for
	Refused      Kind = "refused"       // the request makes no sense to GitHub
	Unavailable  Kind = "not available" // no answer, half an answer, or a server in trouble
)

func (k Kind) Error() string { return string(k) }

// Withheld tells of what GitHub keeps from us, or has not got.
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
	heard, ok := readAnswer(err)
	if !ok {
		return &Error{Kind: Unavailable, Message: oneLine(err.Error()), cause: err}
	}
	limited, _ := errors.AsType[*gh.AbuseRateLimitError](err) // by an earlier answer, which is not at hand
	wait := heard.wait()
	if limited != nil && limited.RetryAfter != nil && len(heard.header) == 0 {
		wait = *limited.RetryAfter
	}
	return &Error{Kind: heard.kind(), Status: heard.status, Message: oneLine(heard.message), Wait: wait}
}

type answer struct {
	status  int
	header  http.Header
	message string
}

func readAnswer(err error) (answer, bool) {
	if e, ok := errors.AsType[*gh.ErrorResponse](err); ok {
		return answer{e.Response.StatusCode, e.Response.Header, problemText(e)}, true
	}
	if e, ok := errors.AsType[*gh.RateLimitError](err); ok {
		return answer{e.Response.StatusCode, e.Response.Header, rateLimitMessage(e.Message)}, true
	}
	if e, ok := errors.AsType[*gh.AbuseRateLimitError](err); ok {
		return answer{e.Response.StatusCode, e.Response.Header, rateLimitMessage(e.Message)}, true
	}
	if e, ok := errors.AsType[*ghinstallation.HTTPError](err); ok && e.Response != nil {
		return answer{e.Response.StatusCode, e.Response.Header, message(e.Response)}, true
	}
	return answer{}, false
}

// rateLimitMessage replaces go-github's message about an earlier rate limit.
func rateLimitMessage(message string) string {
	limit, _, own := strings.Cut(message, " exceeded until ")
	if !own {
		return message
	}
	return limit + " exceeded, as GitHub said before"
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

func (a answer) kind() Kind {
	limited := a.header.Get("X-RateLimit-Remaining") == "0" || strings.Contains(a.message, "rate limit")
	switch {
	case a.status == http.StatusTooManyRequests, a.status == http.StatusForbidden && limited:
		return RateLimited
	case a.status == http.StatusUnauthorized:
		return Unauthorized
	case a.status == http.StatusForbidden:
		return Forbidden
	case a.status == http.StatusNotFound, a.status == http.StatusGone:
		return NotFound
	case a.status >= http.StatusInternalServerError:
		return Unavailable
	}
	return Refused
}

// wait returns the pause that GitHub asks for, by its own clock.
func (a answer) wait() time.Duration {
	if seconds, err := strconv.Atoi(a.header.Get("Retry-After")); err == nil {
		return time.Duration(seconds) * time.Second
	}
	reset, err := strconv.ParseInt(a.header.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(a.header.Get("Date"))
	if err != nil {
		return 0
	}
	// A second more: both stamps are cut to the second.
	return max(0, time.Unix(reset, 0).Sub(now)) + time.Second
}

func oneLine(text string) string {
	const most = 300
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

func message(resp *http.Response) string {
	defer resp.Body.Close() //nolint:errcheck // read, not written
	var said struct{ Message string }
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err != nil || json.Unmarshal(body, &said) != nil {
		return "" // a page for people, or half of one: the status says enough
	}
	return said.Message
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
		return "the token is wrong or has expired: give a new `" + input + "`, or an App with `app-id` and `app-private-key`"
	case e.Kind == RateLimited:
		return "wait for GitHub's limit to be lifted, or give an App with `app-id` and `app-private-key`, which has a limit of its own"
	case e.Kind != Forbidden:
		return ""
	case strings.Contains(e.Message, "not permitted to create or approve pull requests"):
		return "allow GitHub Actions to create pull requests in Settings → Actions → General, or give an App or `ci-token`"
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
