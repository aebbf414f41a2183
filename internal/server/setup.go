package server

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/templates"
)

// Setup is a server without a GitHub App: its log shows the page that creates one.
type Setup struct {
	Access       github.Access // where its GitHub is
	URL          string        // under which GitHub and people reach this server
	Organization string        // the App's owner; empty: the person who creates it
	Keep         func(github.CreatedApp) error
	Log          *slog.Logger
	Limits       Limits
}

type setup struct {
	Setup
	at    *url.URL
	form  string // where GitHub takes the manifest
	site  string // that is on
	text  string // the manifest
	token string // opens the page
	state string // comes back with those whom we have sent

	mu   sync.Mutex // one at a time takes an App over
	made *github.CreatedApp
	done chan struct{}
}

// longestName is what GitHub leaves of an App's name beside our own.
const longestName = 34 - len("ralph-")

var errMade = errors.New("an App already exists")

func (s Setup) open() (*setup, error) {
	at, err := url.Parse(s.URL)
	if err != nil || at.Host == "" || at.User != nil || at.RawQuery != "" || !private(at) {
		return nil, fault.Usage(fmt.Sprintf("GitHub cannot reach a server at %q", s.URL),
			"give --url as https://HOST: GitHub sends the App's secrets there", nil)
	}
	d := &setup{Setup: s, at: at, token: rand.Text(), state: rand.Text(), done: make(chan struct{})}
	plan := github.NewApp{
		Name: "ralph-" + s.Organization[:min(len(s.Organization), longestName)], Home: at.String(), Deliver: at.JoinPath("webhook").String(), Return: at.JoinPath("setup", "made").String(),
		Organization: s.Organization, API: s.Access.BaseURL,
	}
	if s.Organization == "" {
		plan.Name += rand.Text()[:6] // names are taken on all of GitHub at once
	}
	if d.form, d.site, err = plan.FormURL(d.state); err != nil {
		return nil, err
	}
	d.text, err = plan.Manifest()
	return d, err
}

// private reports whether data sent to u stays encrypted or on this machine.
func private(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

// Serve answers on l until an App is made, or ctx is done: then there is none.
func (s Setup) Serve(ctx context.Context, l net.Listener) (*github.CreatedApp, error) {
	d, err := s.open()
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	web, failed := serve(l, d.handler(), s.Log, s.Limits)
	page := d.at.JoinPath("setup")
	page.RawQuery = url.Values{"token": {d.token}}.Encode()
	s.Log.Info("no App yet: open this page to create it", "page", page.String())
	select {
	case err = <-failed:
	case <-ctx.Done():
	case <-d.done:
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Limits.Grace)
	defer cancel()
	shutdown(grace, web)
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.made, err
}

func (d *setup) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /setup", d.page)
	mux.HandleFunc("GET /setup/made", d.back)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok") })
	mux.HandleFunc("POST /webhook", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusServiceUnavailable, "no App yet")
	})
	return mux
}

func same(given, ours string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(ours)) == 1
}

func (d *setup) page(w http.ResponseWriter, r *http.Request) {
	if !same(r.URL.Query().Get("token"), d.token) {
		d.show(w, http.StatusForbidden, sheet{Title: "This page is not open", Said: "The server's log shows the address that opens it."})
		return
	}
	d.show(w, http.StatusOK, sheet{
		Title: "Create the GitHub App", Form: d.form, Manifest: d.text, Owner: d.Organization, Deliver: d.at.JoinPath("webhook").String(),
	})
}

func (d *setup) back(w http.ResponseWriter, r *http.Request) {
	said := r.URL.Query()
	if !same(said.Get("state"), d.state) {
		d.Log.Warn("GitHub's answer was not requested here")
		d.show(w, http.StatusForbidden, sheet{Title: "This page was not requested here", Said: "Start again with the page that the server's log shows."})
		return
	}
	made, err := d.take(r.Context(), said.Get("code"))
	switch {
	case errors.Is(err, errMade):
		d.show(w, http.StatusGone, sheet{Title: "An App already exists", Said: "If you have just made another one, delete it on GitHub."})
	case err != nil:
		d.Log.Error("the App was not saved", "error", err.Error())
		d.show(w, http.StatusBadGateway, sheet{
			Title: "The App was not saved",
			Said:  "The server's log tells why. Delete the App on GitHub, if it exists, and start again with the page that the log shows.",
		})
	default:
		d.Log.Info("the App is created", "app", made.ID, "slug", made.Slug, "page", made.Page)
		d.show(w, http.StatusOK, sheet{Title: "The App is created", Slug: made.Slug, Install: made.Page + "/installations/new"})
		close(d.done)
	}
}

// take saves the first App. It ignores the client's end: GitHub gives the key only once.
func (d *setup) take(ctx context.Context, code string) (github.CreatedApp, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.made != nil {
		return github.CreatedApp{}, errMade
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*d.Limits.Slow)
	defer cancel()
	made, err := github.RedeemCode(ctx, d.Access, code)
	if err != nil {
		return made, err
	}
	if err := d.Keep(made); err != nil {
		return made, err
	}
	d.made = &made
	return made, nil
}

type sheet struct {
	Title string
	Nonce string

	Form, Manifest, Owner, Deliver string
	Install, Slug                  string
	Said                           string
}

var sheets = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(templates.Files, "server/page.html"))
})

// show allows no scripts or resources, and a form to GitHub alone. GitHub sees the host, not the token.
func (d *setup) show(w http.ResponseWriter, status int, s sheet) {
	s.Nonce = rand.Text()
	for name, value := range map[string]string{
		"Content-Type": "text/html; charset=utf-8",
		"Content-Security-Policy": "default-src 'none'; style-src 'nonce-" + s.Nonce + "'; form-action " + d.site +
			"; base-uri 'none'; frame-ancestors 'none'",
		"Referrer-Policy":        "strict-origin",
		"X-Content-Type-Options": "nosniff",
		"Cache-Control":          "no-store",
	} {
		w.Header().Set(name, value)
	}
	w.WriteHeader(status)
	_ = sheets().Execute(w, s) // who has hung up need not see it
}
