package git

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"
)

// Person is where a user's own configuration of git lies. Of what stands there
// only who commits, what is ignored and how lines end is ever read; no call runs under it.
type Person struct {
	Home       string // $HOME; empty: nobody's
	ConfigHome string // $XDG_CONFIG_HOME; empty: .config at home
}

func (p Person) folder() string {
	if p.ConfigHome == "" && p.Home != "" {
		return filepath.Join(p.Home, ".config", "git")
	}
	if p.ConfigHome == "" {
		return ""
	}
	return filepath.Join(p.ConfigHome, "git")
}

// files are the configuration files, the one that counts most first.
func (p Person) files() []string {
	var files []string
	if p.Home != "" {
		files = append(files, filepath.Join(p.Home, ".gitconfig"))
	}
	if dir := p.folder(); dir != "" {
		files = append(files, filepath.Join(dir, "config"))
	}
	return files
}

// setting is the value of a key as the repository has it, else the first of
// files that does; empty where none does.
func (u user) setting(ctx context.Context, key string, files []string) string {
	sources := [][]string{{"--local"}}
	for _, file := range files {
		sources = append(sources, []string{"--file", file, "--includes"})
	}
	for _, source := range sources {
		c := call{args: append(append([]string{"config"}, source...), "--get", key), dir: u.dir}
		if u.git.User.Home != "" {
			c.env = []string{"HOME=" + u.git.User.Home} // what is included may begin with ~
		}
		out, err := u.git.do(ctx, c)
		if value := strings.TrimSuffix(string(out), "\n"); err == nil && value != "" {
			return value
		}
	}
	return ""
}

// who is whom the user has commit; nobody where the name or the address is
// not known.
func (u user) who(ctx context.Context, files []string) Identity {
	who := Identity{Name: tidy(u.setting(ctx, "user.name", files), 200), Email: tidy(u.setting(ctx, "user.email", files), 200)}
	if who.Name == "" || who.Email == "" {
		return Identity{}
	}
	return who
}

// ignore is the user's own excludes file, which need not be there.
func (u user) ignore(ctx context.Context) string {
	person := u.git.User
	if person == (Person{}) {
		return ""
	}
	usual := ""
	if dir := person.folder(); dir != "" {
		usual = filepath.Join(dir, "ignore")
	}
	name := cmp.Or(u.setting(ctx, "core.excludesFile", person.files()), usual)
	if rest, home := strings.CutPrefix(name, "~/"); home && person.Home != "" {
		return filepath.Join(person.Home, rest)
	}
	return name
}

// endings is how the user has git treat the ends of lines: it decides which
// files are changed at all.
func (u user) endings(ctx context.Context) []setting {
	const key = "core.autocrlf"
	switch value := strings.ToLower(u.setting(ctx, key, u.git.User.files())); value {
	case "true", "input":
		return []setting{{key, value}}
	}
	return nil
}
