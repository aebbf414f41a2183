package confine

import (
	"bytes"
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/internal/sandbox/putback"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// harmlessSettings are git's settings that name no program but Git LFS, and hold no login; see isWithheld.
const harmlessSettings = `^(user\.(name|email|useconfigonly)|init\.defaultbranch|safe\.directory|advice\.[a-z]+|color\.ui|fetch\.prune` +
	`|core\.(autocrlf|eol|safecrlf|quotepath|ignorecase|precomposeunicode|symlinks|filemode|whitespace|abbrev)` +
	`|pull\.(rebase|ff)|push\.(default|autosetupremote|followtags)|merge\.(conflictstyle|ff|renames)|rebase\.(autosquash|autostash|updaterefs)` +
	`|diff\.(algorithm|renames|colormoved|mnemonicprefix|noprefix|context)|http\.sslcainfo|url\.https?://.+\.insteadof|filter\.lfs\.(clean|smudge|process|required))$`

// gitConfig returns the file that git inside reads in place of one outside, which may hold a
// login under any name: "system" for the machine's, "global" for the user's own.
func (r *folders) gitConfig(scope string) string { return filepath.Join(r.dir, "gitconfig-"+scope) }

// copyGitConfig copies harmless settings. Each source is an option of git config.
func (r *folders) copyGitConfig(ctx context.Context, asked Options, scope string, sources [][]string) error {
	empty := r.tmp(true)
	tool := git.Git{Run: asked.Exec, Path: asked.Path, Home: empty}
	// An included path may begin with ~.
	call := git.Call{Dir: append(slices.Clone(asked.Private), empty)[0], Env: []string{"HOME=" + asked.Home}}
	if file := environ.Get(asked.Env, "GIT_CONFIG_SYSTEM"); file != "" {
		call.Env = append(call.Env, "GIT_CONFIG_SYSTEM="+file)
	}
	var text strings.Builder
	for _, source := range sources {
		call.Args = slices.Concat([]string{"config"}, source, []string{"--includes", "-z", "--get-regexp", harmlessSettings})
		out, err := tool.Do(ctx, call)
		if err != nil {
			continue // the file is missing, or has no harmless setting
		}
		for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			if set := git.SettingOf(entry); !r.isWithheld(set) {
				text.WriteString(set.Text())
			}
		}
	}
	path := r.gitConfig(scope)
	r.read = append(r.read, path)
	return untrusted.WriteFile(path, []byte(text.String()), 0o644)
}

// isWithheld excludes settings with a login, and unreadable files. Public certificates are allowed.
func (r *folders) isWithheld(set git.Setting) bool {
	if set.Key != "http.sslcainfo" {
		return strings.HasPrefix(set.Key, "url.") && sandbox.TextHoldsLogin(set.Key+"="+set.Value)
	}
	text, err := untrusted.ReadFile(set.Value, mostTrusted)
	if err != nil || !filepath.IsAbs(set.Value) || bytes.Contains(text, []byte("PRIVATE KEY")) || !bytes.Contains(text, []byte("BEGIN CERTIFICATE")) {
		return true
	}
	r.read = append(r.read, set.Value)
	return false
}

func systemGitConfig(asked Options) [][]string {
	ignored := strings.ToLower(environ.Get(asked.Env, "GIT_CONFIG_NOSYSTEM"))
	if slices.Contains([]string{"", "0", "false", "no", "off"}, ignored) {
		return [][]string{{"--system"}}
	}
	return nil
}

func globalGitConfigs(asked Options) [][]string {
	if file := environ.Get(asked.Env, "GIT_CONFIG_GLOBAL"); file != "" {
		return [][]string{{"--file", file}}
	}
	folder := cmp.Or(environ.Get(asked.Env, "XDG_CONFIG_HOME"), filepath.Join(asked.Home, ".config"))
	return [][]string{{"--file", filepath.Join(folder, "git", "config")}, {"--file", filepath.Join(asked.Home, ".gitconfig")}}
}

func guards(list []guarded.Guard) (all []putback.Guard) {
	for _, guard := range list {
		all = append(all, putback.Guard(guard))
	}
	return all
}
