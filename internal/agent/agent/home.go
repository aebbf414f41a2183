package agent

import "github.com/ralph-loop/ralph/internal/lib/environ"

// Brought is a file of the user's home that an agent has in a new home.
type Brought struct {
	File   string   // in the new home
	From   string   // the user's
	Fields []string // of JSON that has other things, too; nil: all of it
	Back   bool     // it is a login: tokens that change inside are the user's
}

// HomeFiles returns the files that the agent needs of the user's home: its logins, and the settings in which the user
// chooses a server or a login.
func HomeFiles(name string, env []string) []Brought {
	var all []Brought
	k := kinds[name]
	for _, l := range k.logins {
		all = append(all, Brought{File: l.file, Fields: l.fields, Back: true})
	}
	if k.settings != nil {
		if _, ok := k.settings.choice(environ.PathIn(env, "", k.settings.file)); ok {
			all = append(all, Brought{File: k.settings.file})
		}
	}
	for _, file := range k.brings {
		all = append(all, Brought{File: file})
	}
	for i := range all {
		all[i].From = environ.PathIn(env, "", all[i].File)
	}
	return all
}
