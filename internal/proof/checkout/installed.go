package checkout

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
	"github.com/ralph-loop/ralph/internal/proof/suite"
)

// Setup makes folders of dependencies from manifests. They are kept for the next checkout, if its manifests are the
// same and setup makes nothing else: then it need not run again.

// installed says what the newest checkout has.
type installed struct {
	key     string   // of the manifests and the setup commands; empty: nothing can be kept
	folders []string // of dependencies, with slashes
}

var dependencyFolders = []string{"node_modules", ".venv", "venv", "vendor"}

// installKey identifies what setup makes dependencies from.
func (c *Clean) installKey(ctx context.Context, run journal.Run, commit string) (string, error) {
	listed, err := c.Trusted.ListAll(ctx, commit)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, command := range run.Policy.Setup {
		fmt.Fprintf(sum, "%q\n", command.Command)
	}
	for _, entry := range listed {
		if suite.Manifest(entry.Path) {
			fmt.Fprintf(sum, "%q %s\n", entry.Path, entry.ID)
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}

func (c *Clean) keptDir() string { return c.Dir + "-installed" }

// keepInstalled moves the dependencies of the newest checkout aside, if the next commit needs the same.
func (c *Clean) keepInstalled(ctx context.Context, run journal.Run, commit string) (bool, error) {
	if c.installed.key == "" {
		return false, nil
	}
	key, err := c.installKey(ctx, run, commit)
	if err != nil || key != c.installed.key {
		c.installed = installed{}
		return false, err
	}
	if err := untrusted.RemoveAll(c.keptDir()); err != nil {
		return false, err
	}
	if err := os.MkdirAll(c.keptDir(), 0o700); err != nil {
		return false, err
	}
	for i, folder := range c.installed.folders {
		if err := c.move(c.inCheckout(folder), c.inKept(i)); err != nil {
			c.installed = installed{}
			return false, nil //nolint:nilerr // a check removed it: setup makes it again
		}
	}
	return true, nil
}

// putInstalled moves the dependencies into the new checkout.
func (c *Clean) putInstalled(kept bool) error {
	if !kept {
		return nil
	}
	for i, folder := range c.installed.folders {
		if err := c.move(c.inKept(i), c.inCheckout(folder)); err != nil {
			return fmt.Errorf("move %s into the checkout: %w", folder, err)
		}
	}
	return nil
}

func (c *Clean) inCheckout(name string) string {
	return filepath.Join(filepath.Base(c.Dir), filepath.FromSlash(name))
}

func (c *Clean) inKept(number int) string {
	return filepath.Join(filepath.Base(c.keptDir()), strconv.Itoa(number))
}

// move renames a folder below the parent of the checkout. No link can lead it out.
func (c *Clean) move(from, to string) error {
	root, err := untrusted.OpenRoot(filepath.Dir(c.Dir))
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	if err := root.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return root.Rename(from, to)
}

// noteInstalled notes the dependencies that setup made, unless it made something else, too.
func (c *Clean) noteInstalled(ctx context.Context, run journal.Run, commit string) error {
	listed, err := c.Trusted.ListAll(ctx, commit)
	if err != nil {
		return err
	}
	tracked := map[string]bool{} // files, and their folders
	for _, entry := range listed {
		for name := entry.Path; name != "." && !tracked[name]; name = path.Dir(name) {
			tracked[name] = true
		}
	}
	var found installed
	other := false
	err = untrusted.Folder{Path: c.Dir}.Walk(ctx, ".", func(e untrusted.Entry, err error) error {
		switch {
		case err != nil:
			return err
		case e.Path == ".git":
			return fs.SkipDir
		case e.Info.IsDir() && !tracked[e.Path] && slices.Contains(dependencyFolders, path.Base(e.Path)):
			found.folders = append(found.folders, e.Path)
			return fs.SkipDir
		case !e.Info.IsDir() && !tracked[e.Path]:
			other = true
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("look at what setup made: %w", err)
	}
	c.installed = installed{}
	if other || len(found.folders) == 0 {
		return nil
	}
	found.key, err = c.installKey(ctx, run, commit)
	if err != nil {
		return err
	}
	c.installed = found
	return nil
}
