package confine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// gitFiles are files elsewhere that the repository of the user's project has git open. Of one that Landlock hides, git
// dies, where it goes without one that is missing.
type gitFiles struct {
	named   []git.Setting   // what a setting names, or a hook is a link to
	without []git.Setting   // what git inside has in place of those
	notes   []journal.Noted // of included configurations that are hidden
}

// findGitFiles makes included configurations readable, once, before anything runs inside: never one that another command
// may have named, that git itself could not read, or with a login.
func (r *folders) findGitFiles(ctx context.Context, asked Options) {
	tool := git.Git{Run: asked.Exec, Path: asked.Path, Home: r.tmp(true)}
	for _, project := range asked.Private {
		configs, hooks := guarded.ConfigsAround(project)
		l := gitLook{project: project, reached: resolved(asked.Reach)}
		for _, config := range configs {
			l.reached = append(l.reached, filepath.Dir(config))
		}
		l.config = func(args ...string) []string {
			args = append([]string{"config", "-z"}, args...)
			out, _ := tool.Do(ctx, git.Call{Dir: project, Env: []string{"HOME=" + asked.Home}, Args: args}) // an error: git outside fails, too
			return strings.FieldsFunc(string(out), func(c rune) bool { return c == 0 })
		}
		_ = Settled(asked.Home, guarded.FolderOf(project), func(settled bool) error { // an error: no command starts
			r.include(filtered(l.included(), l.isHidden), settled)
			return nil
		})
		r.git.named = append(r.git.named, l.named(hooks)...)
	}
}

type gitLook struct {
	project string
	reached []string // folders that git inside reaches anyway
	config  func(args ...string) []string
}

func (l gitLook) isHidden(path string) bool {
	place, err := filepath.EvalSymlinks(path)
	return err == nil && !anyHolds(l.reached, place)
}

// included returns the files that git reads as the repository's configuration.
func (l gitLook) included() (files []string) {
	for pair := range slices.Chunk(l.config("--show-origin", "--name-only", "--get-regexp", "."), 2) {
		if path, is := strings.CutPrefix(pair[0], "file:"); is {
			files = append(files, guarded.Absolute(path, l.project))
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

func (l gitLook) named(hooks []string) (named []git.Setting) {
	add := func(key, path string) {
		if l.isHidden(path) {
			named = append(named, git.Setting{Key: key, Value: untrusted.Place(path)})
		}
	}
	for _, entry := range l.config("--type=path", "--get-regexp", `^core\.(excludesfile|attributesfile|hookspath)$`) {
		if set := git.SettingOf(entry); !filepath.IsLocal(set.Value) { // else it is in each tree
			add(set.Key, guarded.Absolute(set.Value, l.project))
		}
	}
	for _, path := range guarded.Linked(hooks).Names {
		add("core.hookspath", path)
	}
	return named
}

func (r *folders) include(paths []string, settled bool) {
	for _, path := range paths {
		switch {
		case !settled:
			r.git.notes = append(r.git.notes, journal.Noted{
				What: path + " is hidden in the sandbox: another command works in this repository", Hint: "start again when it has ended, if git fails inside",
			})
		case sandbox.FileHoldsLogin(path):
			r.git.notes = append(r.git.notes, journal.Noted{
				What: path + " is hidden in the sandbox: it seems to hold a login", Hint: "move the login to another file, or git may fail inside",
			})
		default:
			r.read = append(r.read, path)
		}
	}
}

// goWithout has git inside use nothing in place of files that cannot be read.
func (f *gitFiles) goWithout(reads func(path string) bool) (notes []journal.Noted) {
	for _, set := range f.named {
		nothing := git.Setting{Key: set.Key, Value: os.DevNull}
		if reads(set.Value) || slices.Contains(f.without, nothing) {
			continue
		}
		f.without = append(f.without, nothing)
		notes = append(notes, journal.Noted{
			What: set.Value + " is hidden in the sandbox, where git has " + set.Key + "=" + os.DevNull, Hint: "move it into the project",
		})
	}
	return notes
}

// gitEnv returns the environment of git inside.
func (r *folders) gitEnv(proof bool) []string {
	// rerere would write to the user's list of conflicts. The key to sign with stays outside.
	set := []git.Setting{{Key: "rerere.enabled", Value: "false"}, {Key: "commit.gpgsign", Value: "false"}, {Key: "tag.gpgsign", Value: "false"}}
	if !proof {
		set = append(set, r.git.without...)
	}
	env := []string{"GIT_CONFIG_SYSTEM=" + r.gitConfig("system"), "GIT_CONFIG_COUNT=" + strconv.Itoa(len(set))}
	for i, one := range set {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, one.Key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, one.Value))
	}
	return env
}
