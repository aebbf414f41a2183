package confine

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// harmless are git's settings that hold no login and name no program but Git LFS.
const harmless = `^(user\.(name|email|useconfigonly)|init\.defaultbranch|safe\.directory|advice\.[a-z]+|color\.ui|fetch\.prune|rerere\.enabled` +
	`|core\.(autocrlf|eol|safecrlf|quotepath|ignorecase|precomposeunicode|symlinks|filemode|whitespace|abbrev)` +
	`|pull\.(rebase|ff)|push\.(default|autosetupremote|followtags)|merge\.(conflictstyle|ff|renames)|rebase\.(autosquash|autostash|updaterefs)` +
	`|diff\.(algorithm|renames|colormoved|mnemonicprefix|noprefix|context)|filter\.lfs\.(clean|smudge|process|required))$`

// gitConfig is the file that git inside reads in place of the user's own configuration,
// which may hold a login under any name.
func (r *folders) gitConfig() string { return filepath.Join(r.dir, "gitconfig") }

// writeGitConfig copies the harmless settings of the user's own, as they hold in the project.
func (r *folders) writeGitConfig(ctx context.Context, asked Options) error {
	empty := r.tmp(true)
	tool := git.Git{Run: asked.Exec, Path: asked.Path, Home: empty}
	call := git.Call{Dir: append(slices.Clone(asked.Private), empty)[0], Env: []string{"HOME=" + asked.Home}} // what is included may begin with ~
	var text strings.Builder
	for _, file := range gitConfigs(asked) {
		call.Args = []string{"config", "--file", file, "--includes", "-z", "--get-regexp", harmless}
		out, err := tool.Do(ctx, call)
		if err != nil {
			continue // it is not there, or has none of them
		}
		for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			text.WriteString(gitSetting(entry))
		}
	}
	return untrusted.WriteFile(r.gitConfig(), []byte(text.String()), 0o644)
}

// gitConfigs are the user's own configuration files, the one that counts most last.
func gitConfigs(asked Options) []string {
	if file := environ.Get(asked.Env, "GIT_CONFIG_GLOBAL"); file != "" {
		return []string{file}
	}
	folder := environ.Get(asked.Env, "XDG_CONFIG_HOME")
	if folder == "" {
		folder = filepath.Join(asked.Home, ".config")
	}
	return []string{filepath.Join(folder, "git", "config"), filepath.Join(asked.Home, ".gitconfig")}
}

var quoteGit = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// gitSetting writes for a file what git's -z prints: the key, and the value on the next
// line where there is one.
func gitSetting(entry string) string {
	key, value, valued := strings.Cut(entry, "\n")
	section, name, _ := strings.Cut(key, ".")
	if sub, last, is := strings.Cut(name, "."); is {
		section, name = section+` "`+sub+`"`, last
	}
	if valued {
		name += ` = "` + quoteGit.Replace(value) + `"`
	}
	return "[" + section + "]\n\t" + name + "\n"
}
