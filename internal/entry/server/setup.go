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

	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/templates"
)

// Setup has the settings of a server without a GitHub App. Its log shows a page that creates one.
type Setup struct {
	Access       github.Access // its GitHub
	URL          string        // at which GitHub and people reach this server
	Organization string        // owner of the App (default: the person who creates it)
	Keep         func(github.CreatedApp) error
	Log          *slog.Logger
	Limits       Limits
}

type setup struct {
	Setup
	url      *url.URL
	form     string // URL to which the browser posts the manifest
	site     string // of that URL
	manifest string
	token    string // in the address of the page
	state    string // identifies the answer to this server's request

	mu   sync.Mutex // only one App is saved
	made *github.CreatedApp
	stop func() // the server has its App
}

// maxName is GitHub's limit for the name of an App, without our prefix.
const maxName = 34 - len("ralph-")

var errMade = errors.New("an App already exists")

func (s Setup) open() (*setup, error) {
	home, err := url.Parse(s.URL)
	if err != nil || !isPlain(home) || !isPrivate(home) {
		return nil, fault.Usage(fmt.Sprintf("GitHub cannot reach a server at %q", s.URL),
			"set --url to https://HOST: GitHub sends the App's secrets there", nil)
	}
	d := &setup{Setup: s, url: home, token: rand.Text(), state: rand.Text()}
	plan := github.NewApp{
		Name:         "ralph-" + s.Organization[:min(len(s.Organization), maxName)],
		Home:         home.String(),
		Deliver:      home.JoinPath("webhook").String(),
		Return:       home.JoinPath("setup", "made").String(),
		Organization: s.Organization,
		API:          s.Access.BaseURL,
	}
	if s.Organization == "" {
		plan.Name += rand.Text()[:6] // the name must be unique on GitHub
	}
	d.form, d.site, err = plan.FormURL(d.state)
	if err != nil {
		return nil, err
	}
	d.manifest = plan.Manifest()
	return d, nil
}

// isPlain reports whether u has a host, and neither a user nor a query.
func isPlain(u *url.URL) bool {
	return u.Host != "" && u.User == nil && u.RawQuery == ""
}

// isPrivate reports whether data sent to u is encrypted or stays on this machine.
func isPrivate(u *url.URL) bool {
	switch u.Scheme {
	case "https":
		return true
	case "http":
		return u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()
	}
	return false
}

// Serve answers requests until an App is created or ctx is done. Then it returns the App, or nil.
func (s Setup) Serve(ctx context.Context, l net.Listener) (*github.CreatedApp, error) {
	d, err := s.open()
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	d.stop = stop
	page := d.url.JoinPath("setup")
	page.RawQuery = url.Values{"token": {d.token}}.Encode()
	s.Log.Info("no App yet: open this page to create it", "page", page.String())
	web, err := serve(serving, l, d.handler(), s.Log, s.Limits)
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
	mux.HandleFunc("GET /setup/made", d.created)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok") })
	mux.HandleFunc("POST /webhook", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusServiceUnavailable, "no App yet")
	})
	return mux
}

func isEqual(given, secret string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(secret)) == 1
}

func (d *setup) page(w http.ResponseWriter, r *http.Request) {
	if !isEqual(r.URL.Query().Get("token"), d.token) {
		d.show(w, http.StatusForbidden, pageData{
			Title: "Wrong address",
			Text:  "The server's log shows the address of this page.",
		})
		return
	}
	d.show(w, http.StatusOK, pageData{
		Title:    "Create the GitHub App",
		Form:     d.form,
		Manifest: d.manifest,
		Owner:    d.Organization,
		Deliver:  d.url.JoinPath("webhook").String(),
	})
}

func (d *setup) created(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if !isEqual(query.Get("state"), d.state) {
		d.Log.Warn("refused an App that this server did not request")
		d.show(w, http.StatusForbidden, pageData{
			Title: "This server did not request the App",
			Text:  "Start again with the page that the server's log shows.",
		})
		return
	}
	made, err := d.saveApp(r.Context(), query.Get("code"))
	switch {
	case errors.Is(err, errMade):
		d.show(w, http.StatusGone, pageData{
			Title: "An App already exists",
			Text:  "If you have just created another one, delete it on GitHub.",
		})
	case err != nil:
		d.Log.Error("the App was not saved", "error", err.Error())
		d.show(w, http.StatusBadGateway, pageData{
			Title: "The App was not saved",
			Text: "The server's log shows the reason. Delete the App on GitHub, if it exists, " +
				"and start again with the page that the log shows.",
		})
	default:
		d.Log.Info("the App is created", "app", made.ID, "slug", made.Slug, "page", made.Page)
		d.show(w, http.StatusOK, pageData{
			Title:   "The App is created",
			Slug:    made.Slug,
			Install: made.Page + "/installations/new",
		})
		d.stop()
	}
}

// saveApp saves the first App, even if the client disconnects: GitHub sends the key only once.
func (d *setup) saveApp(ctx context.Context, code string) (github.CreatedApp, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.made != nil {
		return github.CreatedApp{}, errMade
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*d.Limits.Request)
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

type pageData struct {
	Title string
	Nonce string

	Form, Manifest, Owner, Deliver string
	Install, Slug                  string
	Text                           string
}

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(templates.Files, "server/page.html"))
})

// show writes a page without scripts and resources, with a form that can only go to GitHub. The referrer has no token.
func (d *setup) show(w http.ResponseWriter, status int, data pageData) {
	data.Nonce = rand.Text()
	for name, value := range map[string]string{
		"Content-Type": "text/html; charset=utf-8",
		"Content-Security-Policy": "default-src 'none'; style-src 'nonce-" + data.Nonce + "'; form-action " + d.site +
			"; base-uri 'none'; frame-ancestors 'none'",
		"Referrer-Policy":        "strict-origin",
		"X-Content-Type-Options": "nosniff",
		"Cache-Control":          "no-store",
	} {
		w.Header().Set(name, value)
	}
	w.WriteHeader(status)
	_ = pageTemplate().Execute(w, data) // the client may be gone
}
