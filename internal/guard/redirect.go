package guard

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirect judges where a command reads from and writes to.
func (j *judge) redirect(redir *syntax.Redirect, r *ran) {
	subs := j.within(redir, r.scope)
	if redir.Op == syntax.Hdoc || redir.Op == syntax.DashHdoc {
		r.in = known(j.hereDocument(redir, r.scope)).also(subs)
		return
	}
	target := j.whole(r.scope, redir.Word)
	switch {
	case redir.Op == syntax.WordHdoc:
		r.in = known(target).also(subs)
	case remote(target):
		j.report(RemoteAccess, "a connection through "+target)
	case redir.Op == syntax.RdrIn:
		r.in = stream{secret: j.secretFile(target, r.scope)}.also(subs)
		r.inFile = target
	case redir.Op == syntax.DplIn || redir.Op == syntax.DplOut:
		if _, err := strconv.Atoi(strings.TrimSuffix(target, "-")); err != nil && target != "-" {
			j.writes(target, r.scope)
		}
	default:
		j.overwrites(redir, target, r)
	}
}

func (j *judge) overwrites(redir *syntax.Redirect, target string, r *ran) {
	j.writes(target, r.scope)
	if redir.Op != syntax.AppOut && redir.Op != syntax.AppAll {
		j.truncates(target, r.scope)
	}
	if redir.N == nil || redir.N.Value == "1" {
		r.toFile = true
		r.outFile = target
	}
}

// truncates is a file that loses what it had; in the system's folders that is
// a loss even where writing were fine.
func (j *judge) truncates(target string, sc *scope) {
	p := j.resolve(target, sc)
	if strings.HasPrefix(p, "/var/") && j.where(p) == system {
		j.report(FileDestruction, "overwriting "+target)
	}
}

// hereDocument is its text, with the variables in it unless it was quoted.
func (j *judge) hereDocument(redir *syntax.Redirect, sc *scope) string {
	if redir.Hdoc == nil {
		return ""
	}
	var raw strings.Builder
	for _, part := range redir.Hdoc.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return j.document(sc, redir.Hdoc)
		}
		raw.WriteString(lit.Value)
	}
	return raw.String()
}

// remote is one of bash's own network paths that leads away from here. A name
// without a dot is a neighbour: the database of a compose file.
func remote(path string) bool {
	for _, net := range []string{"/dev/tcp/", "/dev/udp/"} {
		if rest, ok := strings.CutPrefix(path, net); ok {
			host, _, _ := strings.Cut(rest, "/")
			return strings.Contains(host, ".") && !local(host)
		}
	}
	return false
}
