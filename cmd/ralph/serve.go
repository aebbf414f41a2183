package main

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/redact"
	"github.com/ralph-loop/ralph/internal/server"
	"github.com/ralph-loop/ralph/internal/trigger"
)

type serveCommand struct {
	AppID         int64    `name:"app-id" required:"" placeholder:"N" help:"The GitHub App's number."`
	PrivateKey    string   `type:"path" placeholder:"FILE" help:"Its private key, if not in RALPH_APP_PRIVATE_KEY."`
	Secret        string   `type:"path" placeholder:"FILE" help:"The webhook's secret, if not in RALPH_WEBHOOK_SECRET."`
	Listen        string   `default:":8080" placeholder:"HOST:PORT" help:"Where to answer."`
	APIURL        string   `name:"api-url" placeholder:"URL" help:"Of a GitHub of your own: https://HOST/api/v3."`
	Workflow      string   `default:"ralph.yml" placeholder:"FILE" help:"The workflow that is started in a repository."`
	Audience      string   `placeholder:"NAME" help:"For whom a job's identity has to be, to be traded for a token; none is unless given."`
	Issuer        string   `placeholder:"URL" help:"Who vouches for jobs, on a GitHub of your own."`
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
there is an --audience. Work is done by GitHub Actions. docs/SERVE.md tells how
the App and the workflow are set up.

Example: RALPH_WEBHOOK_SECRET=… ralph serve --app-id 12 --private-key app.pem`
}

func (serveCommand) guarded() bool { return false }

func (c serveCommand) run(ctx context.Context, w world) (int, error) {
	return fault.ExitDone, c.serve(ctx, w)
}

func (c serveCommand) serve(ctx context.Context, w world) error {
	key, err := confided(w, "RALPH_APP_PRIVATE_KEY", c.PrivateKey, "--private-key")
	if err != nil {
		return err
	}
	secret, err := confided(w, "RALPH_WEBHOOK_SECRET", c.Secret, "--secret")
	if err != nil {
		return err
	}
	log := redact.New(key, secret).Writer(w.stderr)
	s := c.server(w, log)
	s.Access.App.PrivateKey, s.Secret = key, secret
	listener, err := server.Listen(ctx, c.Listen)
	if err != nil {
		return err
	}
	err = s.Serve(ctx, listener)
	_ = log.Close() // the last of a log that nobody takes is lost
	return err
}

func (c serveCommand) server(w world, log io.Writer) server.Server {
	level := slog.LevelInfo
	if c.Verbose {
		level = slog.LevelDebug
	}
	return server.Server{
		Access:   github.Access{BaseURL: cmp.Or(c.APIURL, w.env("GITHUB_API_URL")), App: &github.App{ID: c.AppID}, Pace: w.pace},
		Workflow: c.Workflow, Audience: c.Audience, Issuer: c.Issuer, Now: w.now, Limits: server.Usual,
		Log: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: level})),
		Rules: trigger.Rules{
			Label: c.Label, Phrase: c.TriggerPhrase, Assignee: c.Assignee, Reviews: c.Reviews, Buttons: c.Buttons, AllowBots: c.AllowBots,
		},
	}
}

// confided is a secret out of a file or of the environment: on a command line
// everybody on the machine could read it.
func confided(w world, name, path, flag string) (string, error) {
	text := w.env(name)
	if path != "" {
		read, err := os.ReadFile(path)
		if err != nil {
			return "", fault.Usage("cannot read the file of "+flag, "name one that is readable", err)
		}
		text = string(read)
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", fault.Usage("there is nothing in "+name, "set it, or name a file with "+flag, nil)
	}
	return text, nil
}
