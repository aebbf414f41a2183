package confine

import (
	"context"
	"fmt"
	"maps"
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

const excludes, attributes = "core.excludesfile", "core.attributesfile"

// gitFiles are files elsewhere that the repository of the user's project has git open. Of one that Landlock hides, git
// dies, where it goes without one that is missing.
type gitFiles struct {
	named   []git.Setting   // what a setting names, or a hook is a link to
	instead []git.Setting   // what git inside has in place of those, and for filters
	ignored string          // a list of the project's files that the lists of named ignore
	filters string          // a list of the filters of the project's files, which the lists of named may give them; empty: none
	notes   []journal.Noted // of included configurations that are hidden
}

// findGitFiles makes included configurations readable, once, before anything runs inside: never one that another command
// may have named, that git itself could not read, or with a login.
func (r *folders) findGitFiles(ctx context.Context, asked Options) error {
	var ignored strings.Builder
	tool := git.Git{Run: asked.Exec, Path: asked.Path, Home: r.tmp(true)}
	for _, project := range asked.Private {
		configs, hooks := guarded.ConfigsAround(project)
		l := gitLook{project: project, reached: resolved(asked.Reach)}
		for _, config := range configs {
			l.reached = append(l.reached, filepath.Dir(config))
		}
		l.git = func(args ...string) []string {
			out, _ := tool.Do(ctx, git.Call{Dir: project, Env: []string{"HOME=" + asked.Home}, Args: args}) // an error: git outside fails, too
			return entries(out)
		}
		_ = Settled(asked.Home, guarded.FolderOf(project), func(settled bool) error { // an error: no command starts
			r.include(filtered(l.included(), l.isHidden), settled)
			return nil
		})
		for _, set := range l.named(hooks) {
			r.git.named = append(r.git.named, set)
			if set.Key == excludes {
				ignored.WriteString(l.ignored(set.Value))
			}
		}
	}
	r.git.ignored = filepath.Join(r.dir, "ignored")
	r.read = append(r.read, r.git.ignored)
	return untrusted.WriteFile(r.git.ignored, []byte(ignored.String()), 0o644)
}

type gitLook struct {
	project string
	reached []string // folders that git inside reaches anyway
	git     func(args ...string) []string
}

func (l gitLook) isHidden(path string) bool {
	place, err := filepath.EvalSymlinks(path)
	return err == nil && !anyHolds(l.reached, place)
}

// included returns the files that git reads as the repository's configuration.
func (l gitLook) included() (files []string) {
	for pair := range slices.Chunk(l.git("config", "-z", "--show-origin", "--name-only", "--get-regexp", "."), 2) {
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
	values := map[string]string{} // the last of each counts
	for _, entry := range l.git("config", "-z", "--type=path", "--get-regexp", listSettings+`|^core\.hookspath$`) {
		set := git.SettingOf(entry)
		values[set.Key] = set.Value
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !filepath.IsLocal(values[key]) { // else it is in each tree
			add(key, guarded.Absolute(values[key], l.project))
		}
	}
	for _, path := range guarded.Linked(hooks).Names {
		add("core.hookspath", path)
	}
	return named
}

// ignored returns patterns of the files in the project that a list ignores. The list itself stays outside: the
// repository names it, which may come from an archive, and any file can be read as patterns.
func (l gitLook) ignored(list string) string {
	var text strings.Builder
	paths := l.git("ls-files", "-z", "--others", "--ignored", "--directory", "--exclude-from="+list)
	for i, path := range paths {
		// A folder before what is in it is not ignored itself.
		if !strings.HasSuffix(path, "/") || i+1 == len(paths) || !strings.HasPrefix(paths[i+1], path) {
			text.WriteString("/" + anyForSpecial.Replace(path) + "\n")
		}
	}
	return text.String()
}

// anyForSpecial replaces what means something else in a pattern.
var anyForSpecial = strings.NewReplacer(`\`, "?", "*", "?", "[", "?", " ", "?", "\t", "?", "\r", "?", "\n", "?")

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

// replace has git inside use something else in place of files that cannot be read. Mounts need no other hooks: git goes
// without those that are missing.
func (f *gitFiles) replace(reads func(path string) bool, mounts bool) (notes []journal.Noted) {
	for _, set := range f.named {
		instead, which := git.Setting{Key: set.Key, Value: os.DevNull}, "git has "+set.Key+"="+os.DevNull
		switch {
		case set.Key == excludes:
			instead.Value, which = f.ignored, "git ignores only the files that it matches now"
		case set.Key == attributes && f.filters != "":
			instead.Value, which = f.filters, "git has only the filters of files that it matches now"
		}
		if reads(set.Value) || slices.Contains(f.instead, instead) || mounts && set.Key == "core.hookspath" {
			continue
		}
		f.instead = append(f.instead, instead)
		notes = append(notes, journal.Noted{What: set.Value + " is hidden in the sandbox, where " + which, Hint: "move it into the project"})
	}
	return notes
}

// gitEnv returns the environment of git inside.
func (r *folders) gitEnv(proof bool) []string {
	// rerere would write to the user's list of conflicts. The key to sign with stays outside.
	set := []git.Setting{{Key: "rerere.enabled", Value: "false"}, {Key: "commit.gpgsign", Value: "false"}, {Key: "tag.gpgsign", Value: "false"}}
	if !proof {
		set = append(set, r.git.instead...)
	}
	env := []string{"GIT_CONFIG_NOSYSTEM=0", "GIT_CONFIG_SYSTEM=" + r.gitConfig("system"), "GIT_CONFIG_COUNT=" + strconv.Itoa(len(set))}
	for i, one := range set {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, one.Key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, one.Value))
	}
	return env
}
