package git

import (
	"bytes"
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/environ"
)

// UserEnv locates the user's own git configuration. Ralph reads only the name and
// email, the excludes file and the line endings from it. No call of git uses it.
type UserEnv struct {
	Home       string    // $HOME; empty: none
	ConfigHome string    // $XDG_CONFIG_HOME; empty: .config at home
	Global     string    // $GIT_CONFIG_GLOBAL; empty: files of the two above
	System     string    // $GIT_CONFIG_SYSTEM; empty: the usual file
	Set        []Setting // by $GIT_CONFIG_COUNT
	Parameters string    // $GIT_CONFIG_PARAMETERS, of git -c
}

func (p UserEnv) folder() string {
	if p.ConfigHome == "" && p.Home != "" {
		return filepath.Join(p.Home, ".config", "git")
	}
	if p.ConfigHome == "" {
		return ""
	}
	return filepath.Join(p.ConfigHome, "git")
}

func (p UserEnv) files() []string {
	if p.Global != "" {
		return []string{p.Global}
	}
	var files []string
	if p.Home != "" {
		files = append(files, filepath.Join(p.Home, ".gitconfig"))
	}
	if dir := p.folder(); dir != "" {
		files = append(files, filepath.Join(dir, "config"))
	}
	return files
}

type userConfig map[string]string

const userKeys = `^(user\.name|user\.email|core\.excludesfile|core\.autocrlf)$`

// userConfig returns each value from the repository, or else from the first of files that has it.
func (u userRepo) userConfig(ctx context.Context, files []string) userConfig {
	found := userConfig{}
	var sources [][]string
	for _, file := range slices.Backward(files) {
		sources = append(sources, []string{"--file", file, "--includes"})
	}
	for _, source := range append(sources, []string{"--local"}) {
		out, _ := u.git.Do(ctx, Call{ // one that cannot be read has no values
			Args: slices.Concat([]string{"config"}, source, []string{"-z", "--get-regexp", userKeys}),
			Dir:  u.dir, Env: environ.Pairs("HOME", u.git.User.Home), // for paths of includes that begin with ~
		})
		for entry := range strings.SplitSeq(string(out), "\x00") {
			if key, value, _ := strings.Cut(entry, "\n"); value != "" {
				found[key] = value // the last one counts
			}
		}
	}
	return found
}

func (t userConfig) identity() Identity {
	who := Identity{Name: OneLine(t["user.name"], 200), Email: OneLine(t["user.email"], 200)}
	if who.Name == "" || who.Email == "" {
		return Identity{}
	}
	return who
}

func (t userConfig) ignore(person UserEnv) string {
	dir := person.folder()
	if dir == "" {
		return ""
	}
	name := cmp.Or(t["core.excludesfile"], filepath.Join(dir, "ignore"))
	if rest, home := strings.CutPrefix(name, "~/"); home && person.Home != "" {
		return filepath.Join(person.Home, rest)
	}
	return name
}

// lineEndings returns the user's setting for line endings, which decides which files count as changed.
func (t userConfig) lineEndings() []Setting {
	const key = "core.autocrlf"
	switch value := strings.ToLower(t[key]); value {
	case "true", "input":
		return []Setting{{key, value}}
	}
	return nil
}

// These limit how much of a configuration is read to find its includes, and how many files it includes.
const maxConfig, maxIncluded = 64 << 20, 10_000

// Includes returns a function that lists the includes of a configuration.
func (g Git) Includes(ctx context.Context) func(config []byte) ([]byte, error) {
	return func(config []byte) ([]byte, error) {
		return g.includes(ctx, Call{Stdin: bytes.NewReader(config)}, "--file", "-")
	}
}

func (g Git) includes(ctx context.Context, c Call, from ...string) (list []byte, err error) {
	for _, form := range []string{"--type=path", "--no-type"} { // --type=path fails for ~USER of an unknown user
		c.Args = append(append([]string{"config"}, from...), "--no-includes", form, "-z", "--get-regexp", `^include(if\..*)?\.path$`)
		c.Dir, c.Env = g.Home, []string{"HOME=" + g.User.Home, "GIT_CONFIG_PARAMETERS=" + g.User.Parameters}
		if list, err = g.Do(ctx, c); err == nil {
			break
		}
	}
	return list, err
}
