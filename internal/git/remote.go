package git

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// What can be wrong with a remote, for errors.Is. RemoteError has the words.
var (
	ErrNonFastForward = errors.New("the branch has moved on")
	ErrRefused        = errors.New("refused by the remote")
	ErrAuth           = errors.New("the remote does not let us")
	ErrNetwork        = errors.New("the remote cannot be reached") // trying again may help
)

// Token is a credential that cannot be printed.
type Token string

const hidden = "***"

// Format hides the token from every verb of fmt.
func (Token) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, hidden) // a State does not fail
}

// MarshalText hides the token from every encoder.
func (Token) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Remote is a repository elsewhere. Its URL is http, https, file or a path.
type Remote struct {
	URL   string
	Token Token // for http and https
}

// RemoteError is a remote that did not do as it was asked.
type RemoteError struct {
	Act    string // fetch, push
	Kind   error  // ErrAuth and its like, or nothing that is known
	Reason string // the remote's own words or git's, on one line
}

// Error is what was asked, what it came to, and why.
func (e *RemoteError) Error() string {
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
func (e *RemoteError) Unwrap() error { return e.Kind }

// reach is what a call needs to reach the remote, and the URL to name there:
// the one transport and, in the environment, the token.
func (g Git) reach(r Remote, c call) (call, string, error) {
	u, err := r.parse()
	if err != nil {
		return c, "", err
	}
	c.env = append(c.env, "GIT_ALLOW_PROTOCOL="+u.Scheme)
	c.timeout = farther
	if u.Scheme == "file" {
		return c, u.String(), nil
	}
	c.set = append(c.set, setting{"http.proxy", g.Proxy})
	if g.Proxy != "" {
		c.env = append(c.env, "NO_PROXY=localhost,127.0.0.1,::1")
	}
	if g.CA != "" {
		c.set = append(c.set, setting{"http.sslCAInfo", g.CA})
	}
	if r.Token != "" {
		where := u.Scheme + "://" + u.Host + "/"
		c.set = append(c.set, setting{"http." + where + ".extraHeader", "Authorization: Basic " + r.basic()})
	}
	return c, u.String(), nil
}

func (r Remote) parse() (*url.URL, error) {
	if strings.HasPrefix(r.URL, "/") {
		return &url.URL{Scheme: "file", Path: r.URL}, nil
	}
	u, err := url.Parse(r.URL)
	switch {
	case err != nil:
		return nil, errors.New("the remote's address is none") // the error would quote it, password and all
	case u.User != nil:
		return nil, errors.New("the remote's address holds a credential")
	case u.Scheme == "file", (u.Scheme == "http" || u.Scheme == "https") && u.Host != "":
		return u, nil
	default:
		return nil, fmt.Errorf("remotes are reached by https, http or file, not %q", tidy(u.Scheme, 20))
	}
}

func (r Remote) basic() string {
	return base64.StdEncoding.EncodeToString([]byte("x-access-token:" + string(r.Token)))
}

// hide takes the token out of what a remote said.
func (r Remote) hide(text string) string {
	if r.Token == "" {
		return text
	}
	return strings.NewReplacer(string(r.Token), hidden, r.basic(), hidden).Replace(text)
}

var (
	// GitHub answers "not found" for what a token may not see.
	authWords = pattern.Of(`(?i)authentication failed|could not read (?:username|password)|terminal prompts disabled|` +
		`returned error: 40[134]|permission to \S+ denied|write access to repository not granted|repository '.*' not found|repository not found`)
	networkWords = pattern.Of(`(?i)could ?n(?:o|')t resolve|failed to connect|could ?n(?:o|')t connect|connection (?:refused|reset|timed out|was closed)|` +
		`timed out|early eof|unexpected disconnect|hung up unexpectedly|returned error: (?:5\d\d|408|429)|rpc failed|empty reply|SSL_ERROR_SYSCALL|operation too slow`)
	tooLarge = pattern.Of(`(?i)returned error: 413|HTTP 413`)
)

// judge makes a failed call to r an error that says what may be done.
func (r Remote) judge(act string, err error) error {
	failed, ok := answered(err)
	if !ok {
		return err
	}
	wrong := &RemoteError{Act: act, Reason: r.inFull(r.hide(failed.Said), err)}
	switch {
	case failed.TimedOut:
		wrong.Kind, wrong.Reason = ErrNetwork, "it took too long"
	case tooLarge.MatchString(failed.errors):
		wrong.Kind, wrong.Reason = ErrRefused, "it is more than the server, or a proxy before it, takes at once (HTTP 413)"
	case authWords.MatchString(failed.errors):
		wrong.Kind = ErrAuth
	case networkWords.MatchString(failed.errors):
		wrong.Kind = ErrNetwork
	}
	return mended(wrong)
}
