package git

import (
	"cmp"
	"context"
	"fmt"
	"strings"
)

// userSettings are settings of the user and of a repository that ralph reads itself.
type userSettings map[string]string

const readKeys = `^(user\.(name|email)|remote\..+\.url|push\.default|extensions\.objectformat)$`

func (r repository) readSettings(ctx context.Context) (userSettings, error) {
	out, err := r.Do(ctx, Call{Args: []string{"config", "-z", "--get-regexp", readKeys}})
	if err != nil && !SaidNo(err) {
		return nil, fmt.Errorf("read the settings of %s: %w", r.top, err)
	}
	found := userSettings{}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		set := SettingOf(entry)
		found[set.Key] = set.Value // the last one counts
	}
	return found, nil
}

func (s userSettings) identity() Identity {
	i := Identity{Name: OneLine(s["user.name"], 200), Email: OneLine(s["user.email"], 200)}
	if i.Name == "" || i.Email == "" {
		return Identity{}
	}
	return i
}

// format returns the format of object names.
func (s userSettings) format() string { return cmp.Or(s["extensions.objectformat"], "sha1") }

// remotes returns the names of the remotes.
func (s userSettings) remotes() (names []string) {
	for key := range s {
		if name, ok := strings.CutSuffix(key, ".url"); ok {
			names = append(names, strings.TrimPrefix(name, "remote."))
		}
	}
	return names
}

var quote = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// SettingOf reads what git config -z prints of a setting. One without a value is true.
func SettingOf(entry string) Setting {
	key, value, ok := strings.Cut(entry, "\n")
	if !ok {
		value = "true"
	}
	return Setting{key, value}
}

// Text returns the setting as lines of a configuration file.
func (s Setting) Text() string {
	section, name, _ := strings.Cut(s.Key, ".")
	if at := strings.LastIndexByte(name, '.'); at >= 0 {
		section += ` "` + quote.Replace(name[:at]) + `"`
		name = name[at+1:]
	}
	return "[" + section + "]\n\t" + name + ` = "` + quote.Replace(s.Value) + "\"\n"
}
