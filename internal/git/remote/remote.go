// Package remote clones, fetches and pushes remote repositories. Each call runs git with one transport and the token in
// the environment, and returns errors with a remedy. It never forces a branch.
package remote

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/redact"
)

// What can be wrong with a remote, for errors.Is. Error has the words.
var (
	ErrNonFastForward = errors.New("the branch has moved on")
	ErrRefused        = errors.New("refused by the remote")
	ErrAuth           = errors.New("the remote denies access")
	ErrNetwork        = errors.New("the remote cannot be reached") // trying again may help
)

const patience = 10 * time.Minute

// Repository is one elsewhere. Its URL is http, https, file or a path.
type Repository struct {
	URL   string
	Token redact.Secret                                // for http and https
	Fresh func(context.Context) (redact.Secret, error) // returns a token that is good now, instead of Token
	// Pause is the time before a read is tried again, as the remote cannot be reached. It doubles. 0: it is not tried
	// again.
	Pause time.Duration
}

const readTries = 3

// retry reads again while the remote cannot be reached.
func (r Repository) retry(ctx context.Context, read func() error) error {
	for try := range readTries {
		err := read()
		if !errors.Is(err, ErrNetwork) || r.Pause == 0 {
			return err
		}
		if try == readTries-1 {
			return fault.Usage("the code could not be fetched from GitHub",
				"check that this machine reaches GitHub and that GitHub is up, then ask again", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(r.Pause << try):
		}
	}
	return nil
}

// reach returns a call with one transport allowed and the token in the environment, and the URL. It sets Token.
func (r *Repository) reach(ctx context.Context, g git.Git, c git.Call) (git.Call, string, error) {
	u, err := r.parse()
	if err != nil {
		return c, "", err
	}
	if r.Fresh != nil {
		r.Token, err = r.Fresh(ctx)
		if err != nil {
			return c, "", err
		}
	}
	c.Env = append(c.Env, "GIT_ALLOW_PROTOCOL="+u.Scheme)
	c.Timeout = patience
	if u.Scheme == "file" {
		return c, u.String(), nil
	}
	c.Set = append(c.Set, git.Setting{Key: "http.proxy", Value: g.Proxy})
	if g.Proxy != "" {
		c.Env = append(c.Env, "NO_PROXY=localhost,127.0.0.1,::1")
	}
	if g.CA != "" {
		c.Set = append(c.Set, git.Setting{Key: "http.sslCAInfo", Value: g.CA})
	}
	if r.Token != "" {
		c.Set = append(c.Set, git.Setting{
			Key:   "http." + u.Scheme + "://" + u.Host + "/.extraHeader",
			Value: "Authorization: Basic " + r.basic(),
		})
	}
	return c, u.String(), nil
}

func (r Repository) parse() (*url.URL, error) {
	if strings.HasPrefix(r.URL, "/") {
		return &url.URL{Scheme: "file", Path: r.URL}, nil
	}
	u, err := url.Parse(r.URL)
	switch {
	case err != nil:
		return nil, errors.New("the remote's address is not valid") // the error would quote it, password and all
	case u.User != nil:
		return nil, errors.New("the remote's address holds a credential")
	case u.Scheme == "file", (u.Scheme == "http" || u.Scheme == "https") && u.Host != "":
		return u, nil
	default:
		return nil, fmt.Errorf("remotes are reached by https, http or file, not %q", git.OneLine(u.Scheme, 20))
	}
}

func (r Repository) basic() string {
	return base64.StdEncoding.EncodeToString([]byte("x-access-token:" + string(r.Token)))
}

func (r Repository) hide(text string) string {
	if r.Token == "" {
		return text
	}
	return strings.NewReplacer(string(r.Token), redact.Mask, r.basic(), redact.Mask).Replace(text)
}

// quirks are harmless faults of old histories. New commits must have none.
var quirks = []string{
	"badTimezone", "missingEmail", "missingNameBeforeEmail", "missingSpaceBeforeDate", "missingSpaceBeforeEmail",
	"multipleAuthors", "zeroPaddedDate", "zeroPaddedFilemode",
}

func ignoredQuirks() []git.Setting {
	var set []git.Setting
	for _, quirk := range quirks {
		set = append(set, git.Setting{Key: "fetch.fsck." + quirk, Value: "ignore"})
	}
	return set
}

func (r Repository) fetch(ctx context.Context, t *git.Trusted, depth string, refspecs ...string) error {
	c, address, err := r.reach(ctx, t.Git(), git.Call{Set: ignoredQuirks()})
	if err != nil {
		return err
	}
	c.Args = []string{"fetch", "-q", "--no-tags", "--no-write-fetch-head"}
	if depth != "" {
		c.Args = append(c.Args, depth)
	}
	c.Args = append(append(c.Args, "--", address), refspecs...)
	return r.retry(ctx, func() error {
		_, err := t.Do(ctx, c)
		return r.judge("fetch", err)
	})
}

func (r Repository) push(ctx context.Context, t *git.Trusted, refspec string, flags ...string) error {
	c, address, err := r.reach(ctx, t.Git(), git.Call{})
	if err != nil {
		return err
	}
	c.Args = append([]string{"push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags"}, flags...)
	c.Args = append(c.Args, "--", address, refspec)
	out, err := t.Do(ctx, c)
	if err != nil {
		return r.refusal(string(out), err)
	}
	return nil
}

const below = "/*"

// list returns the commits of refs; a name that ends in below stands for all refs in that folder.
func (r Repository) list(ctx context.Context, g git.Git, do git.Runner, refs ...string) (map[string]string, error) {
	c, address, err := r.reach(ctx, g, git.Call{})
	if err != nil {
		return nil, err
	}
	c.Args = append([]string{"ls-remote", "--", address}, refs...)
	var out []byte
	err = r.retry(ctx, func() error {
		var err error
		out, err = do(ctx, c)
		return r.judge("look at the remote", err)
	})
	if err != nil {
		return nil, err
	}
	commits := map[string]string{}
	for line := range strings.Lines(string(out)) {
		sha, ref, _ := strings.Cut(strings.TrimSpace(line), "\t")
		isWanted := func(want string) bool { return matchesRef(want, ref) } // ls-remote also finds refs that end so
		if slices.ContainsFunc(refs, isWanted) && git.CheckSHA(sha) == nil {
			commits[ref] = sha
		}
	}
	return commits, nil
}

func matchesRef(want, ref string) bool {
	if folder, ok := strings.CutSuffix(want, below); ok {
		return strings.HasPrefix(ref, folder+"/")
	}
	return ref == want
}
