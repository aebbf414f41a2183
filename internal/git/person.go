package git

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/environ"
)

// UserEnv locates the user's own git configuration. No call of git uses it:
// ralph reads from it what userSettings has.
type UserEnv struct {
	Home       string    // $HOME; empty: none
	ConfigHome string    // $XDG_CONFIG_HOME; empty: .config at home
	Global     string    // $GIT_CONFIG_GLOBAL; empty: files of the two above
	System     string    // $GIT_CONFIG_SYSTEM; empty: the usual file
	Set        []Setting // by $GIT_CONFIG_COUNT
	Parameters string    // $GIT_CONFIG_PARAMETERS, of git -c
}

func (p UserEnv) folder() string {
	if p.ConfigHome == "" && p.Home == "" {
		return ""
	}
	return filepath.Join(cmp.Or(p.ConfigHome, filepath.Join(p.Home, ".config")), "git")
}

// files returns the configuration files beside the repository's, the first to decide first.
func (p UserEnv) files() []string {
	var files []string
	if p.Global != "" {
		files = []string{p.Global}
	} else if dir := p.folder(); dir != "" {
		if p.Home != "" {
			files = []string{filepath.Join(p.Home, ".gitconfig")}
		}
		files = append(files, filepath.Join(dir, "config"))
	}
	return append(files, cmp.Or(p.System, "/etc/gitconfig"))
}

// userSettings are the settings of the user and of a repository that ralph's git has, too.
type userSettings map[string]string

// plainKeys are what people set to have git see their files as they do, and what ralph reads itself. None starts a
// program.
const plainKeys = `^(user\.(name|email)|remote\..+\.(url)|push\.default|core\.(excludesfile|autocrlf|eol|filemode|symlinks|ignorecase|precomposeunicode|` +
	`checkstat|trustctime|logallrefupdates|sharedrepository|sparsecheckout|sparsecheckoutcone)|index\.sparse|extensions\.(objectformat|refstorage|partialclone))$`

// settingsOf returns each setting from the repository, or else from the first of the other files that has it.
func (g Git) settingsOf(ctx context.Context, dir string) (userSettings, error) {
	env := environ.Pairs("GIT_DIR", dir, "HOME", g.User.Home) // for includes with a condition, or of ~
	get := Call{Args: []string{"config", "--show-scope", "-z", "--get-regexp", plainKeys}, Dir: g.Home, Env: env}
	for _, file := range slices.Backward(g.User.files()) { // the conditions of their includes see the repository
		get.Set = append(get.Set, Setting{"include.path", file})
	}
	out, err := g.Do(ctx, get)
	if err != nil && !SaidNo(err) { // one of these files cannot be read
		get.Set = nil
		out, err = g.Do(ctx, get)
	}
	if err != nil && !SaidNo(err) {
		return nil, fmt.Errorf("read the settings of %s: %w", dir, err)
	}
	found, entries := userSettings{}, strings.Split(string(out), "\x00")
	for _, own := range []bool{false, true} {
		for pair := range slices.Chunk(entries, 2) {
			if len(pair) == 2 && own == (pair[0] != "command") {
				set := SettingOf(pair[1])
				found[set.Key] = cmp.Or(set.Value, found[set.Key]) // the last one counts
			}
		}
	}
	return found, nil
}

func (s userSettings) identity() Identity {
	who := Identity{Name: OneLine(s["user.name"], 200), Email: OneLine(s["user.email"], 200)}
	if who.Name == "" || who.Email == "" {
		return Identity{}
	}
	return who
}

func (s userSettings) ignore(person UserEnv) string {
	dir := person.folder()
	if dir == "" {
		return ""
	}
	name := cmp.Or(s["core.excludesfile"], filepath.Join(dir, "ignore"))
	if rest, home := strings.CutPrefix(name, "~/"); home && person.Home != "" {
		return filepath.Join(person.Home, rest)
	}
	return name
}

// format returns the format of object names.
func (s userSettings) format() string { return cmp.Or(s["extensions.objectformat"], "sha1") }

// remotes returns the names of the remotes.
func (s userSettings) remotes() (names []string) {
	for key := range s {
		if name, is := strings.CutSuffix(key, ".url"); is {
			names = append(names, strings.TrimPrefix(name, "remote."))
		}
	}
	return names
}

// text returns a configuration with the settings that git has.
func (s userSettings) text(person UserEnv) string {
	plain := maps.Clone(s)
	plain["core.repositoryformatversion"] = "1" // which extensions need
	plain["core.excludesfile"] = s.ignore(person)
	if s["extensions.partialclone"] != "" {
		plain["extensions.partialclone"] = "none" // objects may be missing; no remote has this name
	}
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(plain)) {
		if !strings.HasPrefix(key, "remote.") && plain[key] != "" {
			text.WriteString(Setting{key, plain[key]}.Text())
		}
	}
	return text.String()
}

var quote = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// SettingOf reads what git config -z prints of a setting. One without a value is true.
func SettingOf(entry string) Setting {
	key, value, given := strings.Cut(entry, "\n")
	if !given {
		value = "true"
	}
	return Setting{key, value}
}

// Text returns the setting as lines of a configuration file.
func (s Setting) Text() string {
	section, name, _ := strings.Cut(s.Key, ".")
	if at := strings.LastIndexByte(name, '.'); at >= 0 {
		section, name = section+` "`+quote.Replace(name[:at])+`"`, name[at+1:]
	}
	return "[" + section + "]\n\t" + name + ` = "` + quote.Replace(s.Value) + "\"\n"
}
