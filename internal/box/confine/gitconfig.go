package confine

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// harmlessSettings are git's settings that name no program but Git LFS, and hold no login.
const harmlessSettings = `^(user\.(name|email|useconfigonly)|init\.defaultbranch|safe\.directory` +
	`|advice\.[a-z]+|color\.ui|fetch\.prune` +
	`|core\.(autocrlf|eol|safecrlf|quotepath|ignorecase|precomposeunicode|symlinks|filemode|whitespace|abbrev)` +
	`|pull\.(rebase|ff)|push\.(default|autosetupremote|followtags)` +
	`|merge\.(conflictstyle|ff|renames)|rebase\.(autosquash|autostash|updaterefs)` +
	`|diff\.(algorithm|renames|colormoved|mnemonicprefix|noprefix|context)` +
	`|filter\.lfs\.(clean|smudge|process|required))$`

// gitConfig returns the file that git inside reads in place of one outside, which may hold a
// login under any name: "system" for the machine's, "global" for the user's own.
func (r *folders) gitConfig(scope string) string { return filepath.Join(r.dir, "gitconfig-"+scope) }

// listSettings name lists of patterns.
const listSettings = `^core\.(excludesfile|attributesfile)$`

// copyGitConfig copies harmless settings, and the lists of patterns that settings name, for without these git inside
// commits what the user ignores.
func (r *folders) copyGitConfig(ctx context.Context, asked Options, scope string, lists ...git.Setting) error {
	dir := r.tmp(true)
	if len(asked.Private) > 0 {
		dir = asked.Private[0]
	}
	find := userSettings(ctx, asked, dir, scope)
	var text strings.Builder
	for _, set := range find(harmlessSettings) {
		text.WriteString(set.Text())
	}
	lists = append(lists, find(listSettings, "--type=path")...)
	for _, set := range lists {
		if !filepath.IsLocal(set.Value) { // else it is in each tree
			// A list that cannot be read is empty: git cannot read it either.
			list, _ := untrusted.ReadFile(guarded.Absolute(set.Value, dir), mostTrusted)
			set.Value = r.gitConfig(scope) + "-" + set.Key
			r.read = append(r.read, set.Value)
			if err := untrusted.WriteFile(set.Value, list, 0o644); err != nil {
				return err
			}
		}
		text.WriteString(set.Text())
	}
	path := r.gitConfig(scope)
	r.read = append(r.read, path)
	return untrusted.WriteFile(path, []byte(text.String()), 0o644)
}

// userSettings returns a function that finds the user's settings of some scopes. Only git in the project knows which
// conditions of includes hold there.
func userSettings(
	ctx context.Context, asked Options, dir string, scopes ...string,
) func(pattern string, more ...string) []git.Setting {
	env := []string{"GIT_CONFIG_NOSYSTEM=0", "HOME=" + asked.Home}
	for _, set := range asked.Env {
		name, _, _ := strings.Cut(set, "=")
		switch name {
		case "XDG_CONFIG_HOME",
			"GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_PARAMETERS":
			env = append(env, set)
		}
	}
	tool := git.Git{Path: asked.Path, Run: func(ctx context.Context, c process.Command) (process.Result, error) {
		isGlobal := func(set string) bool { return strings.HasPrefix(set, "GIT_CONFIG_GLOBAL=") }
		c.Env = append(slices.DeleteFunc(c.Env, isGlobal), env...)
		return asked.Exec(ctx, c)
	}}
	return func(pattern string, more ...string) []git.Setting {
		var found []git.Setting
		args := slices.Concat([]string{"config", "--show-scope", "-z"}, more, []string{"--get-regexp", pattern})
		out, _ := tool.Do(ctx, git.Call{Dir: dir, Args: args}) // an error: there is none, or git outside fails, too
		for pair := range slices.Chunk(strings.Split(string(out), "\x00"), 2) {
			if len(pair) == 2 && slices.Contains(scopes, pair[0]) {
				found = append(found, git.SettingOf(pair[1]))
			}
		}
		return found
	}
}

// usualLists are what git reads where no setting names others.
func usualLists(asked Options) []git.Setting {
	if asked.inJob() {
		return nil
	}
	config := cmp.Or(environ.Get(asked.Env, "XDG_CONFIG_HOME"), filepath.Join(asked.Home, ".config"))
	return []git.Setting{
		{Key: "core.excludesfile", Value: filepath.Join(config, "git/ignore")},
		{Key: "core.attributesfile", Value: filepath.Join(config, "git/attributes")},
	}
}

// gitEnv returns the environment of git inside.
func (r *folders) gitEnv() []string {
	// The key to sign with stays outside.
	return []string{
		"GIT_CONFIG_NOSYSTEM=0", "GIT_CONFIG_SYSTEM=" + r.gitConfig("system"), "GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=commit.gpgsign", "GIT_CONFIG_VALUE_0=false",
		"GIT_CONFIG_KEY_1=tag.gpgsign", "GIT_CONFIG_VALUE_1=false",
	}
}
