package server

import (
	"crypto/rand"
	"html/template"
	"net/http"
	"sync"

	"github.com/ralph-loop/ralph/templates"
)

// sheet is what a page of the setup says: a form, where to install, or words.
type sheet struct {
	Title string
	Nonce string

	Form, Manifest, Owner, Deliver string
	Install, Slug                  string
	Said                           string
}

var sheets = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(templates.Files, "server/page.html"))
})

// show sends a page that runs nothing, loads nothing and sends its form to
// GitHub alone. GitHub learns from where, but not the token.
func (d *setup) show(w http.ResponseWriter, status int, s sheet) {
	s.Nonce = rand.Text()
	for name, value := range map[string]string{
		"Content-Type": "text/html; charset=utf-8",
		"Content-Security-Policy": "default-src 'none'; style-src 'nonce-" + s.Nonce + "'; form-action " + d.site +
			"; base-uri 'none'; frame-ancestors 'none'",
		"Referrer-Policy":        "strict-origin",
		"X-Content-Type-Options": "nosniff",
		"Cache-Control":          "no-store",
	} {
		w.Header().Set(name, value)
	}
	w.WriteHeader(status)
	_ = sheets().Execute(w, s) // who has hung up need not see it
}
