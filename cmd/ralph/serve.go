//go:build !windows

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/entry/server"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/redact"
)

type serveCommand struct {
	App           string   `type:"path" placeholder:"FILE" help:"File with the GitHub App. If it does not exist, /setup creates the App."`
	URL           string   `name:"url" placeholder:"https://HOST" help:"Public URL of this server, for /setup."`
	Organization  string   `placeholder:"NAME" help:"Organization that will own the App (default: your account)."`
	AppID         int64    `name:"app-id" placeholder:"N" help:"ID of the GitHub App, instead of --app."`
	PrivateKey    string   `type:"path" placeholder:"FILE" help:"File with the App's private key (default: RALPH_APP_PRIVATE_KEY)."`
	Secret        string   `type:"path" placeholder:"FILE" help:"File with the webhook's secret (default: RALPH_WEBHOOK_SECRET)."`
	Listen        string   `default:":8080" placeholder:"HOST:PORT" help:"Address to listen on."`
	APIURL        string   `group:"all" name:"api-url" placeholder:"URL" help:"API of a GitHub Enterprise server: https://HOST/api/v3."`
	Workflow      string   `group:"all" default:"ralph.yml" placeholder:"FILE" help:"Workflow to start in a repository."`
	Audience      string   `group:"all" placeholder:"NAME" help:"OIDC audience that a job must present to get a token (default: token exchange off)."`
	Issuer        string   `group:"all" placeholder:"URL" help:"OIDC issuer of jobs (default: the GitHub of --api-url)."`
	Label         string   `group:"all" placeholder:"NAME" help:"Label that starts work."`
	TriggerPhrase string   `group:"all" placeholder:"WORD" help:"First word of a comment that starts work."`
	Assignee      string   `group:"all" placeholder:"LOGIN" help:"Login whose assignment starts work."`
	Buttons       bool     `group:"all" help:"Start work by the boxes in ralph's comment."`
	AllowBots     []string `group:"all" placeholder:"NAME" help:"Bot that may start work. Repeatable."`
	Verbose       bool     `short:"V" help:"Log each ignored delivery and the reason."`
}

func (c *serveCommand) run(ctx context.Context, w world) (int, error) { //nolint:unparam // every command has a code
	app, err := c.app(ctx, w)
	if app == nil || err != nil {
		return 0, err
	}
	log := redact.New(app.PrivateKey, app.Secret).Writer(w.Stderr)
	access := c.access(w)
	access.App = &github.App{ID: app.ID, PrivateKey: app.PrivateKey}
	listener, err := server.Listen(ctx, c.Listen)
	if err != nil {
		return 0, err
	}
	err = server.Server{
		Access:   access,
		Secret:   app.Secret,
		Workflow: c.Workflow,
		Audience: c.Audience,
		Issuer:   c.Issuer,
		Now:      w.Now,
		Limits:   server.DefaultLimits,
		Log:      c.log(log),
		Rules: trigger.Rules{
			Label:     c.Label,
			Phrase:    c.TriggerPhrase,
			Assignee:  c.Assignee,
			Buttons:   c.Buttons,
			AllowBots: c.AllowBots,
		},
	}.Serve(ctx, listener)
	_ = log.Close() // the end of a log that is not read is lost
	return fault.ExitDone, err
}

func (c *serveCommand) access(w world) github.Access {
	return github.Access{BaseURL: cmp.Or(c.APIURL, w.Getenv("GITHUB_API_URL")), Retry: w.pace}
}

func (c *serveCommand) log(to io.Writer) *slog.Logger {
	level := slog.LevelInfo
	if c.Verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{Level: level}))
}

// app returns the given App, or a new one. It is nil if a signal came before one was made.
func (c *serveCommand) app(ctx context.Context, w world) (*github.CreatedApp, error) {
	if c.App == "" && c.AppID == 0 {
		fix := "name its file with --app; add --url to create the App if there is no such file"
		return nil, fault.Usage("no GitHub App", fix, nil)
	}
	if c.App == "" {
		return c.givenApp(w)
	}
	if c.AppID != 0 || c.PrivateKey != "" || c.Secret != "" {
		return nil, fault.Usage("--app already has the App's ID, key and secret",
			"leave out --app-id, --private-key and --secret, or --app", nil)
	}
	app, err := c.savedApp()
	if errors.Is(err, fs.ErrNotExist) {
		return c.setup(ctx, w)
	}
	return app, err
}

func (c *serveCommand) givenApp(w world) (*github.CreatedApp, error) {
	key, err := readSecret(w, "RALPH_APP_PRIVATE_KEY", c.PrivateKey, "--private-key")
	if err != nil {
		return nil, err
	}
	secret, err := readSecret(w, "RALPH_WEBHOOK_SECRET", c.Secret, "--secret")
	return &github.CreatedApp{ID: c.AppID, PrivateKey: key, Secret: secret}, err
}

func (c *serveCommand) savedApp() (*github.CreatedApp, error) {
	text, err := os.ReadFile(c.App)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	const fix = "name a file that /setup wrote, or use --app-id and --private-key"
	if err != nil {
		return nil, fault.Usage("cannot read the App in "+c.App, fix, err)
	}
	app, err := parseApp(text)
	if err != nil {
		return nil, fault.Usage("cannot read the App in "+c.App, fix, err)
	}
	return app, nil
}

func parseApp(text []byte) (*github.CreatedApp, error) {
	var app github.CreatedApp
	if err := json.Unmarshal(text, &app); err != nil {
		return nil, err
	}
	if app.ID == 0 || app.PrivateKey == "" || app.Secret == "" {
		return nil, errors.New("app_id, private_key or webhook_secret is missing")
	}
	return &app, nil
}

// setup serves the page that creates an App, at the address where its deliveries will arrive.
func (c *serveCommand) setup(ctx context.Context, w world) (*github.CreatedApp, error) {
	if c.URL == "" {
		fix := "to create one, give this server's public address: --url https://HOST"
		return nil, fault.Usage("no App in "+c.App, fix, nil)
	}
	// GitHub hands the key over once, so it is refused now if it cannot be saved.
	draft, err := os.CreateTemp(filepath.Dir(c.App), ".ralph-app-*")
	if err != nil {
		fix := "use --app with a file in an existing, writable folder"
		return nil, fault.Usage("cannot save the App in "+c.App, fix, err)
	}
	defer os.Remove(draft.Name()) //nolint:errcheck // it has another name once there is an App
	defer draft.Close()           //nolint:errcheck // it is synced by then
	listener, err := server.Listen(ctx, c.Listen)
	if err != nil {
		return nil, err
	}
	c.Listen = listener.Addr().String()
	return server.Setup{
		Access:       c.access(w),
		URL:          c.URL,
		Organization: c.Organization,
		Log:          c.log(w.Stderr),
		Limits:       server.DefaultLimits,
		Keep:         func(app github.CreatedApp) error { return c.keep(draft, app) },
	}.Serve(ctx, listener)
}

// keep puts the App where only we can read it, whole or not at all. draft is a new file beside it, with mode 0600.
func (c *serveCommand) keep(draft *os.File, app github.CreatedApp) error {
	text, err := json.MarshalIndent(app, "", "  ") //nolint:gosec // to be kept is what it is for
	if err != nil {
		return err
	}
	if _, err := draft.WriteAt(append(text, '\n'), 0); err != nil {
		return err
	}
	if err := draft.Sync(); err != nil {
		return err
	}
	return os.Rename(draft.Name(), c.App)
}

// readSecret reads a secret from a file or the environment: all users see command lines.
func readSecret(w world, name, path, flag string) (string, error) {
	text := w.Getenv(name)
	if path != "" {
		read, err := os.ReadFile(path)
		if err != nil {
			return "", fault.Usage("cannot read the file of "+flag, "name a readable file", err)
		}
		text = string(read)
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return "", fault.Usage("there is nothing in "+name, "set it, or name a file with "+flag, nil)
	}
	return text, nil
}
