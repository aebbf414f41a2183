package agent

import "github.com/ralph-loop/ralph/internal/lib/environ"

// HomeFile is a file of the user's home that is copied into an agent's new home.
type HomeFile struct {
	File    string   // path in the new home
	From    string   // path of the user's file
	Fields  []string // JSON fields to copy; nil: the whole file
	IsLogin bool     // tokens that change in the new home are copied back
}

// HomeFiles returns the files that an agent needs of the user's home: its logins, and the settings in which the user
// chooses a server or a login.
func HomeFiles(name string, env []string) []HomeFile {
	var all []HomeFile
	k := kinds[name]
	for _, l := range k.logins {
		all = append(all, HomeFile{File: l.file, Fields: l.fields, IsLogin: true})
	}
	if k.settings != nil {
		if _, ok := k.settings.choice(environ.PathIn(env, "", k.settings.file)); ok {
			all = append(all, HomeFile{File: k.settings.file})
		}
	}
	for _, file := range k.neededSettings {
		all = append(all, HomeFile{File: file})
	}
	for i := range all {
		all[i].From = environ.PathIn(env, "", all[i].File)
	}
	return all
}
