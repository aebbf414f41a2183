package scripted

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

func planWrite(path, text string) (action, error) {
	return func(_ context.Context, p *player) error {
		return p.call("Write", path, func() (string, bool, error) { return "", false, p.write(path, []byte(text)) })
	}, nil
}

func (p *player) write(path string, data []byte) error {
	if err := p.root.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return p.root.WriteFile(path, data, 0o666)
}

func planDelete(path, _ string) (action, error) {
	return func(_ context.Context, p *player) error {
		return p.call("Delete", path, func() (string, bool, error) { return "", false, p.root.RemoveAll(path) })
	}, nil
}

// planProgress appends once: a second play finds its words there.
func planProgress(_, text string) (action, error) {
	return func(_ context.Context, p *player) error {
		path := p.memory("progress.txt")
		return p.call("Edit", path, func() (string, bool, error) {
			said, err := p.root.ReadFile(path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) || bytes.Contains(said, []byte(text)) {
				return "", false, err
			}
			return "", false, p.write(path, append(said, text...))
		})
	}, nil
}

// planClaim marks stories as passed, as an agent does that believes in its work.
func planClaim(_, text string) (action, error) {
	return func(_ context.Context, p *player) error {
		path := p.memory("prd.json")
		return p.call("Edit", path, func() (string, bool, error) {
			return "", false, p.claim(path, fields(text))
		})
	}, nil
}

func (p *player) claim(path string, claims []field) error {
	data, err := p.root.ReadFile(path)
	if err != nil {
		return fmt.Errorf("claim: %w", err)
	}
	prd, err := plan.Read(path, data)
	if err != nil {
		return fmt.Errorf("claim: %w", err)
	}
	for _, c := range claims {
		if err := pass(&prd, c); err != nil {
			return fmt.Errorf("claim in %s: %w", path, err)
		}
	}
	if data, err = prd.Marshal(); err != nil {
		return fmt.Errorf("claim: %w", err)
	}
	return p.write(path, data)
}

func pass(prd *plan.Plan, c field) error {
	for i := range prd.UserStories {
		if story := &prd.UserStories[i]; story.ID == c.name {
			story.Passes = true
			if c.value != "" {
				story.Notes = c.value
			}
			return nil
		}
	}
	return fmt.Errorf("no story %s", c.name)
}

// environ lets git commit without a configured user.
func (p *player) environ() []string {
	return slices.Concat([]string{
		"GIT_AUTHOR_NAME=Scripted Agent", "GIT_AUTHOR_EMAIL=scripted-agent@localhost",
		"GIT_COMMITTER_NAME=Scripted Agent", "GIT_COMMITTER_EMAIL=scripted-agent@localhost",
	}, p.Env)
}

func planRun(_, text string) (action, error) {
	return func(ctx context.Context, p *player) error {
		return p.call("Bash", text, func() (string, bool, error) {
			output, code, err := p.execute(ctx, "sh", "-c", text)
			return output, code != 0, err
		})
	}, nil
}

// execute runs a program in the working directory and gives what it printed.
func (p *player) execute(ctx context.Context, argv ...string) (string, int, error) {
	var out bytes.Buffer
	res, err := p.Run(ctx, process.Command{Argv: argv, Dir: p.Dir, Env: p.environ(), Stdout: &out, Stderr: &out})
	return out.String(), res.Exit, err
}

// planCommit commits all changes. A play that was killed may have left git's
// locks; only this agent works in its tree, so they can be removed.
func planCommit(_, text string) (action, error) {
	message := strings.TrimSpace(text)
	if message == "" {
		return nil, errors.New("commit: no message")
	}
	return func(ctx context.Context, p *player) error {
		return p.call("Bash", "git commit -am "+strconv.Quote(message), func() (string, bool, error) {
			if err := p.unlock(ctx); err != nil {
				return "", false, err
			}
			return p.commit(ctx, message)
		})
	}, nil
}

func (p *player) unlock(ctx context.Context) error {
	paths, code, err := p.execute(ctx, "git", "rev-parse", "--git-path", "index.lock", "--git-path", "HEAD.lock")
	if err != nil || code != 0 {
		return errors.Join(err, fmt.Errorf("commit: %s", strings.TrimSpace(paths)))
	}
	for path := range strings.Lines(paths) {
		path = strings.TrimSpace(path)
		if !filepath.IsAbs(path) {
			path = filepath.Join(p.Dir, path)
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("commit: %w", err)
		}
	}
	return nil
}

func (p *player) commit(ctx context.Context, message string) (string, bool, error) {
	if out, code, err := p.execute(ctx, "git", "add", "-A"); err != nil || code != 0 {
		return out, true, err
	}
	_, changed, err := p.execute(ctx, "git", "diff", "--cached", "--quiet")
	if err != nil || changed == 0 {
		return "nothing to commit", false, err
	}
	out, code, err := p.execute(ctx, "git", "-c", "commit.gpgSign=false", "commit", "-m", message)
	return out, code != 0, err
}

// planSpawn leaves a process behind. It is started as any other and then not
// waited for: the goroutine and the shell end with this program, what the shell
// put into the background does not.
func planSpawn(_, text string) (action, error) {
	return func(ctx context.Context, p *player) error {
		return p.call("Bash", strings.TrimSpace(text)+" &", func() (string, bool, error) {
			begun := &starter{begun: make(chan struct{})}
			ended := make(chan error, 1)
			go func() {
				_, err := p.Run(context.WithoutCancel(ctx), process.Command{
					Argv: []string{"sh", "-c", "(" + text + "\n) >&2 & echo; wait"}, Dir: p.Dir, Env: p.environ(), Stdout: begun, Stderr: p.Out,
				})
				ended <- err
			}()
			select {
			case <-begun.begun:
				return "", false, nil
			case err := <-ended:
				return "", err != nil, err
			}
		})
	}, nil
}

// starter tells when something was written to it.
type starter struct {
	begun chan struct{}
	once  sync.Once
}

// Write takes everything.
func (s *starter) Write(b []byte) (int, error) {
	s.once.Do(func() { close(s.begun) })
	return len(b), nil
}
