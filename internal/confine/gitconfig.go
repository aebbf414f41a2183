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

// listSettings name lists of patterns.
const listSettings = `^core\.(excludesfile|attributesfile)$`

// copyGitConfig copies harmless settings, and the lists of patterns that settings name, for without these git inside
// commits what the user ignores. Each source is an option of git config.
func (r *folders) copyGitConfig(ctx context.Context, asked Options, scope string, sources [][]string, lists ...git.Setting) error {
	empty := r.tmp(true)
	tool := git.Git{Run: asked.Exec, Path: asked.Path, Home: empty}
	// An included path may begin with ~.
	call := git.Call{Dir: append(slices.Clone(asked.Private), empty)[0], Env: []string{"HOME=" + asked.Home}}
	find := func(source []string, args ...string) (found []git.Setting) {
		call.Args = slices.Concat([]string{"config", "--includes", "-z"}, source, args)
		out, _ := tool.Do(ctx, call) // an error: the file is missing, or has no such setting
		for _, entry := range entries(out) {
			found = append(found, git.SettingOf(entry))
		}
		return found
	}
	var text strings.Builder
	for _, source := range sources {
		for _, set := range find(source, "--get-regexp", harmlessSettings) {
			if !r.isWithheld(set) {
				text.WriteString(set.Text())
			}
		}
		lists = append(lists, find(source, "--type=path", "--get-regexp", listSettings)...)
	}
	for _, set := range lists {
		if !filepath.IsLocal(set.Value) { // else it is in each tree
			list := readList(asked, guarded.Absolute(set.Value, call.Dir))
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

// readList returns nothing for a list that git cannot read, and for one behind a link that an agent may have made: it
// would lead to any file.
func readList(asked Options, path string) []byte {
	reached := asked.writableFolders()
	place, err := untrusted.Resolve(path, func(link string) bool { return anyHolds(reached, link) })
	if err != nil {
		return nil
	}
	folder, err := untrusted.OpenStraight(filepath.Dir(place))
	if err != nil {
		return nil
	}
	defer folder.Close() //nolint:errcheck // only read
	text, _ := folder.ReadFile(filepath.Base(place), mostTrusted)
	return text
}

func entries(out []byte) []string {
	return strings.FieldsFunc(string(out), func(c rune) bool { return c == 0 })
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
	file := environ.Get(asked.Env, "GIT_CONFIG_SYSTEM")
	switch {
	case !slices.Contains([]string{"", "0", "false", "no", "off"}, ignored):
		return nil
	case file != "":
		return [][]string{{"--file", file}}
	}
	return [][]string{{"--system"}}
}

func globalGitConfigs(asked Options) [][]string {
	if file := environ.Get(asked.Env, "GIT_CONFIG_GLOBAL"); file != "" {
		return [][]string{{"--file", file}}
	}
	return [][]string{{"--file", userGitFile(asked, "config")}, {"--file", filepath.Join(asked.Home, ".gitconfig")}}
}

func userGitFile(asked Options, name string) string {
	return filepath.Join(cmp.Or(environ.Get(asked.Env, "XDG_CONFIG_HOME"), filepath.Join(asked.Home, ".config")), "git", name)
}

// usualLists are what git reads where no setting names others.
func usualLists(asked Options) []git.Setting {
	if asked.Home == "" {
		return nil
	}
	return []git.Setting{{Key: excludes, Value: userGitFile(asked, "ignore")}, {Key: "core.attributesfile", Value: userGitFile(asked, "attributes")}}
}

func guards(list []guarded.Guard) (all []putback.Guard) {
	for _, guard := range list {
		all = append(all, putback.Guard(guard))
	}
	return all
}
