//go:build !windows

package main

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/entry/server"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/redact"
)

type serveCommand struct {
	AppID         int64    `name:"app-id" required:"" placeholder:"N" help:"ID of the GitHub App."`
	PrivateKey    string   `type:"path" placeholder:"FILE" help:"File with the App's private key (default: RALPH_APP_PRIVATE_KEY)."`
	Secret        string   `type:"path" placeholder:"FILE" help:"File with the webhook's secret (default: RALPH_WEBHOOK_SECRET)."`
	Listen        string   `default:":8080" placeholder:"HOST:PORT" help:"Address to listen on."`
	APIURL        string   `group:"all" name:"api-url" placeholder:"URL" help:"API of a GitHub Enterprise server: https://HOST/api/v3."`
	Label         string   `group:"all" placeholder:"NAME" help:"Label that starts work."`
	TriggerPhrase string   `group:"all" placeholder:"WORD" help:"First word of a comment that starts work."`
	AllowBots     []string `group:"all" placeholder:"NAME" help:"Bot that may start work. Repeatable."`
	Verbose       bool     `short:"V" help:"Log each ignored delivery and the reason."`
}

func (c *serveCommand) run(ctx context.Context, w world) (int, error) { //nolint:unparam // every command has a code
	key, err := readSecret(w, "RALPH_APP_PRIVATE_KEY", c.PrivateKey, "--private-key")
	if err != nil {
		return 0, err
	}
	secret, err := readSecret(w, "RALPH_WEBHOOK_SECRET", c.Secret, "--secret")
	if err != nil {
		return 0, err
	}
	log := redact.New(key, secret).Writer(w.Stderr)
	listener, err := server.Listen(ctx, c.Listen)
	if err != nil {
		return 0, err
	}
	err = server.Server{
		Access: github.Access{
			BaseURL: cmp.Or(c.APIURL, w.Getenv("GITHUB_API_URL")),
			Retry:   w.pace,
			App:     &github.App{ID: c.AppID, PrivateKey: key},
		},
		Secret: secret,
		Now:    w.Now,
		Limits: server.DefaultLimits,
		Log:    c.log(log),
		Rules: trigger.Rules{
			Label:     c.Label,
			Phrase:    c.TriggerPhrase,
			AllowBots: c.AllowBots,
		},
	}.Serve(ctx, listener)
	_ = log.Close() // the end of a log that is not read is lost
	return fault.ExitDone, err
}

func (c *serveCommand) log(to io.Writer) *slog.Logger {
	level := slog.LevelInfo
	if c.Verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{Level: level}))
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
