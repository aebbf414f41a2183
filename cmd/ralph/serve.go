package main

import (
	"cmp"
	"context"
	"io"
	"log/slog"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/redact"
	"github.com/ralph-loop/ralph/internal/server"
	"github.com/ralph-loop/ralph/internal/trigger"
)

type serveCommand struct {
	App           string   `type:"path" placeholder:"FILE" help:"The GitHub App as /setup keeps it; where FILE is not there, /setup makes it."`
	URL           string   `name:"url" placeholder:"https://HOST" help:"Under which GitHub and people reach this server; for /setup."`
	Organization  string   `placeholder:"NAME" help:"That is to own the App which /setup makes; you, unless given."`
	AppID         int64    `name:"app-id" placeholder:"N" help:"The GitHub App's number, in place of --app."`
	PrivateKey    string   `type:"path" placeholder:"FILE" help:"Its private key, if not in RALPH_APP_PRIVATE_KEY."`
	Secret        string   `type:"path" placeholder:"FILE" help:"The webhook's secret, if not in RALPH_WEBHOOK_SECRET."`
	Listen        string   `default:":8080" placeholder:"HOST:PORT" help:"Where to answer."`
	APIURL        string   `name:"api-url" placeholder:"URL" help:"Of a GitHub of your own: https://HOST/api/v3."`
	Workflow      string   `default:"ralph.yml" placeholder:"FILE" help:"The workflow that is started in a repository."`
	Audience      string   `placeholder:"NAME" help:"For whom a job's identity has to be, to be traded for a token; none is unless given."`
	Issuer        string   `placeholder:"URL" help:"Who vouches for jobs, where it is not the GitHub of --api-url."`
	Label         string   `placeholder:"NAME" help:"The label that starts work."`
	TriggerPhrase string   `placeholder:"WORD" help:"The word that begins a comment to us."`
	Assignee      string   `placeholder:"LOGIN" help:"Start work on what is assigned to them."`
	Reviews       bool     `help:"Start work on reviews that ask for changes."`
	Buttons       bool     `help:"Start work by the boxes in our own comments."`
	AllowBots     []string `placeholder:"NAME" help:"Bots that may ask for work."`
	Verbose       bool     `short:"V" help:"Tell of each delivery that is not for us, and why."`
}

// Help gives the example.
func (serveCommand) Help() string {
	return `Answers POST /webhook, GET /healthz and GET /metrics, and POST /token where
there is an --audience. Work is done by GitHub Actions. Without an App the log
shows a page that makes one in two clicks. docs/SERVE.md tells how the workflow
is set up.

Example: ralph serve --app app.json --url https://ralph.example.com`
}

func (serveCommand) guarded() bool { return false }

func (c serveCommand) run(ctx context.Context, w world) (int, error) {
	return fault.ExitDone, c.serve(ctx, w)
}

func (c serveCommand) serve(ctx context.Context, w world) error {
	app, err := c.app(ctx, w)
	if app == nil || err != nil {
		return err
	}
	log := redact.New(app.PrivateKey, app.Secret).Writer(w.Stderr)
	s := c.server(w, log)
	s.Access.App, s.Secret = &github.App{ID: app.ID, PrivateKey: app.PrivateKey}, app.Secret
	listener, err := server.Listen(ctx, app.listen)
	if err != nil {
		return err
	}
	err = s.Serve(ctx, listener)
	_ = log.Close() // the last of a log that nobody takes is lost
	return err
}

func (c serveCommand) server(w world, log io.Writer) server.Server {
	return server.Server{
		Access:   c.access(w),
		Workflow: c.Workflow, Audience: c.Audience, Issuer: c.Issuer, Now: w.Now, Limits: server.Usual,
		Log: c.log(log),
		Rules: trigger.Rules{
			Label: c.Label, Phrase: c.TriggerPhrase, Assignee: c.Assignee, Reviews: c.Reviews, Buttons: c.Buttons, AllowBots: c.AllowBots,
		},
	}
}

func (c serveCommand) access(w world) github.Access {
	return github.Access{BaseURL: cmp.Or(c.APIURL, w.Getenv("GITHUB_API_URL")), Pace: w.pace}
}

func (c serveCommand) log(to io.Writer) *slog.Logger {
	level := slog.LevelInfo
	if c.Verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{Level: level}))
}
