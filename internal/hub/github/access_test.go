package github_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

func TestAccessThatIsNone(t *testing.T) {
	const secret = "hunter2"
	fine := github.Access{Owner: "acme", Repo: "shop", Token: secret}
	for name, change := range map[string]func(*github.Access){
		"no token":          func(a *github.Access) { a.Token = " \n" },
		"no owner":          func(a *github.Access) { a.Owner = "" },
		"a path for a name": func(a *github.Access) { a.Repo = ".." },
		"two names":         func(a *github.Access) { a.Repo = "shop/../x" },
		"no address":        func(a *github.Access) { a.BaseURL = "ghe.example/api/v3" },
		"not the web":       func(a *github.Access) { a.BaseURL = "file:///etc" },
		"a password":        func(a *github.Access) { a.BaseURL = "https://me:" + secret + "@ghe.example/" },
		"a broken address":  func(a *github.Access) { a.BaseURL = "https://" + secret + "\x7f" },
		"no key":            func(a *github.Access) { a.App = &github.App{ID: 1} },
		"half a key":        func(a *github.Access) { a.App = &github.App{ID: 1, PrivateKey: "-----BEGIN RSA " + secret} },
		"no id":             func(a *github.Access) { a.App = &github.App{PrivateKey: secret} },
	} {
		t.Run(name, func(t *testing.T) {
			a := fine
			change(&a)
			_, err := github.Connect(a)
			if err == nil || fault.Exit(err) != fault.ExitUsage || fault.Hint(err) == "" {
				t.Fatalf("Connect: %v, hint %q", err, fault.Hint(err))
			}
			if strings.Contains(err.Error()+fault.Hint(err), secret) {
				t.Errorf("the error tells a secret: %v", err)
			}
		})
	}
}

// canned is an answer made beforehand.
type canned struct {
	status int
	body   string
	header http.Header
}

func reply(status int, body string, header ...string) canned {
	c := canned{status, body, http.Header{}}
	for i := 0; i+1 < len(header); i += 2 {
		c.header.Set(header[i], header[i+1])
	}
	return c
}

// hand answers requests without a network.
type hand func(*http.Request) canned

func (h hand) RoundTrip(req *http.Request) (*http.Response, error) {
	c := h(req)
	return &http.Response{
		StatusCode: c.status, Header: c.header, Body: io.NopCloser(strings.NewReader(c.body)), Request: req,
	}, nil
}

func TestAddressesOfOtherServers(t *testing.T) {
	for name, c := range map[string]struct{ base, want string }{
		"github.com":          {"", "https://api.github.com/repos/acme/shop https://api.github.com/graphql"},
		"as Actions gives it": {"https://api.github.com", "https://api.github.com/repos/acme/shop https://api.github.com/graphql"},
		"a company's own":     {"https://ghe.example/api/v3", "https://ghe.example/api/v3/repos/acme/shop https://ghe.example/api/graphql"},
		"with a slash":        {"https://ghe.example/api/v3/", "https://ghe.example/api/v3/repos/acme/shop https://ghe.example/api/graphql"},
		"data residency":      {"https://api.acme.ghe.com", "https://api.acme.ghe.com/repos/acme/shop https://api.acme.ghe.com/graphql"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			client := connect(t, github.Access{
				Owner: "acme", Repo: "shop", Token: "secret", BaseURL: c.base, Retry: hasty,
				HTTP: hand(func(req *http.Request) canned {
					asked = append(asked, req.URL.String())
					if req.Header.Get("User-Agent") != "ralph" || req.Header.Get("Authorization") != "Bearer secret" {
						t.Errorf("header = %v", req.Header)
					}
					return reply(http.StatusOK, `{"default_branch":"main","data":{"markPullRequestReadyForReview":{"pullRequest":{"isDraft":false}}}}`)
				}),
			})
			if _, err := client.Ask(t.Context()); err != nil {
				t.Error(err)
			}
			if err := client.ReadyPull(t.Context(), github.Pull{Pull: trigger.Pull{Draft: true}}); err != nil {
				t.Error(err)
			}
			if got := strings.Join(asked, " "); got != c.want {
				t.Errorf("asked %s, want %s", got, c.want)
			}
		})
	}
}

func TestOurTokenStaysOnOurHost(t *testing.T) {
	for _, to := range []string{"https://evil.example/", "http://api.github.com/"} {
		var hosts []string
		client := connect(t, github.Access{
			Owner: "acme", Repo: "shop", Token: "secret", Retry: hasty,
			HTTP: hand(func(req *http.Request) canned {
				hosts = append(hosts, req.URL.Scheme+"://"+req.URL.Host)
				return reply(http.StatusMovedPermanently, "", "Location", to)
			}),
		})
		if _, err := client.Ask(t.Context()); err == nil {
			t.Errorf("the redirect to %s worked", to)
		}
		for _, host := range hosts {
			if host != "https://api.github.com" {
				t.Errorf("%s was asked", host)
			}
		}
	}
}

func TestNoErrorTellsTheToken(t *testing.T) {
	server := stand(t, nil)
	body := `{"message":"no such token: ` + job + `","errors":[{"message":"really, ` + job + `"}]}`
	for _, status := range []int{400, 401, 403, 404, 422, 429, 500} {
		server.Inject(githubtest.Fault{Status: status, Body: body, Times: 3})
		_, err := connect(t, access(server)).Ask(t.Context())
		if err == nil || strings.Contains(err.Error(), job) || !strings.Contains(err.Error(), "***") {
			t.Errorf("with %d: %v", status, err)
		}
		server.Heal()
	}
}
