package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/server"
)

// served is the App to serve, as the file of --app holds it.
type served struct {
	ID         int64  `json:"app_id"`
	Slug       string `json:"slug,omitempty"`
	PrivateKey string `json:"private_key"`
	Secret     string `json:"webhook_secret"`

	listen string // where
}

// app is the App that we were told of, or one that is made first. There is none
// when a signal came before it was.
func (c serveCommand) app(ctx context.Context, w world) (*served, error) {
	switch {
	case c.App == "" && c.AppID == 0:
		return nil, fault.Usage("no GitHub App", "name the file of one with --app; with --url it is made where it is not there yet", nil)
	case c.App == "":
		return c.told(w)
	case c.AppID != 0 || c.PrivateKey != "" || c.Secret != "":
		return nil, fault.Usage("--app is the whole App", "leave out --app-id, --private-key and --secret, or --app", nil)
	}
	app, err := c.kept()
	if errors.Is(err, fs.ErrNotExist) {
		return c.setup(ctx, w)
	}
	return app, err
}

// told is the App of --app-id.
func (c serveCommand) told(w world) (*served, error) {
	key, err := confided(w, "RALPH_APP_PRIVATE_KEY", c.PrivateKey, "--private-key")
	if err != nil {
		return nil, err
	}
	secret, err := confided(w, "RALPH_WEBHOOK_SECRET", c.Secret, "--secret")
	return &served{ID: c.AppID, PrivateKey: key, Secret: secret, listen: c.Listen}, err
}

// kept is the App of --app.
func (c serveCommand) kept() (*served, error) {
	text, err := os.ReadFile(c.App)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	app := served{listen: c.Listen}
	if err == nil {
		err = json.Unmarshal(text, &app)
	}
	if err == nil && (app.ID == 0 || app.PrivateKey == "" || app.Secret == "") {
		err = errors.New("app_id, private_key or webhook_secret is missing")
	}
	if err != nil {
		return nil, fault.Usage("cannot read the App in "+c.App, "name a file that /setup has made, or --app-id and its key", err)
	}
	return &app, nil
}

// setup has the App made, and served from the same place.
func (c serveCommand) setup(ctx context.Context, w world) (*served, error) {
	if c.URL == "" {
		return nil, fault.Usage("there is no App in "+c.App, "to make one, say with --url https://HOST under which GitHub reaches this server", nil)
	}
	// GitHub hands the key over once: better told now that it cannot be kept.
	if _, err := os.Lstat(c.App); !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Usage("the App cannot be kept in "+c.App+", a link to nothing", "remove the link, or name the file itself with --app", err)
	}
	trial, err := c.draft(nil)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(trial); err != nil {
		return nil, err
	}
	listener, err := server.Listen(ctx, c.Listen)
	if err != nil {
		return nil, err
	}
	listen := listener.Addr().String()
	made, err := server.Setup{
		Access: c.access(w), URL: c.URL, Organization: c.Organization, Keep: c.keep, Log: c.log(w.Stderr), Limits: server.Usual,
	}.Serve(ctx, listener)
	if made == nil || err != nil {
		return nil, err
	}
	return &served{ID: made.ID, PrivateKey: made.PrivateKey, Secret: made.Secret, listen: listen}, nil
}

// keep puts the App where only we can read it, whole or not at all.
func (c serveCommand) keep(made github.Made) error {
	app := served{ID: made.ID, Slug: made.Slug, PrivateKey: made.PrivateKey, Secret: made.Secret}
	text, err := json.MarshalIndent(app, "", "  ") //nolint:gosec // to be kept is what it is for
	if err != nil {
		return err
	}
	draft, err := c.draft(append(text, '\n'))
	if err != nil {
		return err
	}
	if _, err := os.Lstat(c.App); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("there is an App in %s by now", c.App), os.Remove(draft))
	}
	return os.Rename(draft, c.App)
}

// draft is a new file beside the App's, with mode 0600 as every temporary one.
func (c serveCommand) draft(text []byte) (path string, err error) {
	f, err := os.CreateTemp(filepath.Dir(c.App), ".ralph-app-*")
	if err != nil {
		return "", fault.Usage("the App cannot be kept in "+c.App, "name with --app a file in a folder that is there and writable", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// confided is a secret out of a file or of the environment: on a command line
// everybody on the machine could read it.
func confided(w world, name, path, flag string) (string, error) {
	text := w.Getenv(name)
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
