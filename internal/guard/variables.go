package guard

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ralph-loop/ralph/internal/pattern"
)

var libraries = pattern.Of(`^(?:/usr/lib|/lib|/usr/local/lib|/lib64|/opt/homebrew)|^lib[\w.+-]+$|^$`)

// variable judges an assignment that changes what other commands do. One that
// lasts is judged more sternly.
func (j *judge) variable(name, value string, lasting bool) {
	bad := false
	switch name {
	case "LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "LD_AUDIT":
		bad = !libraries.MatchString(value) && !strings.Contains(value, dark) && !j.own(value)
	case "LD_LIBRARY_PATH", "PYTHONPATH", "PERL5LIB", "RUBYLIB":
		bad = lasting && isTemporary(first(value))
	case "PATH":
		bad = lasting && (isTemporary(first(value)) && !strings.Contains(first(value), dark) || first(value) == ".")
	case "HISTFILE":
		bad = value == "/dev/null" || value == ""
	case "HISTSIZE", "HISTFILESIZE":
		bad = value == "0"
	case "PROMPT_COMMAND":
		bad = value != "" && lasting
	case "BASH_ENV", "PYTHONSTARTUP":
		bad = value != "" && !j.own(value)
	case "ENV":
		bad = isTemporary(value)
	case "NODE_OPTIONS":
		bad = strings.Contains(value, "--require /") || strings.Contains(value, "-r /") || strings.Contains(value, "--require=/") || strings.Contains(value, "--import /")
		bad = bad && !strings.Contains(value, j.place.Root)
	case "GIT_SSH_COMMAND", "GIT_SSH":
		word, _, _ := strings.Cut(value, " ")
		bad = value != "" && path.Base(word) != "ssh" && !strings.HasPrefix(value, dark) || strings.Contains(value, "ProxyCommand")
	case "GIT_PROXY_COMMAND", "GIT_EXTERNAL_DIFF":
		bad = value != "" && !j.own(value) && strings.Contains(value, "/")
	}
	if bad {
		j.report(EnvironmentTamper, name+"="+value)
	}
}

func first(list string) string {
	one, _, _ := strings.Cut(list, ":")
	return one
}

func (j *judge) own(p string) bool {
	return !path.IsAbs(p) && !strings.Contains(p, "..") || strings.HasPrefix(p, j.place.Root+"/")
}

// exports judges export without an assignment: the whole environment shown.
func (j *judge) exports(c *syntax.DeclClause, r ran) {
	if c.Variant.Value != "export" && c.Variant.Value != "declare" {
		return
	}
	var args []string
	for _, a := range c.Args {
		if a.Naked && a.Value != nil {
			args = append(args, a.Value.Lit())
		}
	}
	if len(c.Args) == len(args) {
		j.credentials(&call{ran: r, name: c.Variant.Value, args: args})
	}
}

// showsSecret judges echo $TOKEN, where it is the agent who would see it.
func (j *judge) showsSecret(c *syntax.CallExpr, words []string, r ran) {
	if len(words) == 0 || words[0] != "echo" && words[0] != "printf" || slices.ContainsFunc(r.next, picks) || r.toFile || r.scope.loads {
		return
	}
	for _, w := range c.Args[1:] {
		syntax.Walk(w, func(n syntax.Node) bool {
			if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil && p.Exp == nil && p.Slice == nil && !p.Length && !p.Excl {
				if _, known := r.scope.vars[p.Param.Value]; !known && telling.MatchString(p.Param.Value) {
					j.report(CredentialExposure, words[0]+" $"+p.Param.Value)
				}
			}
			return true
		})
	}
}

var telling = pattern.Of(`(?:^|_)(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS?|SECRET_KEY)(?:$|_)`)

var escapes = pattern.Of(`\\(?:x[0-9a-fA-F]{1,2}|0?[0-7]{1,3}|[nt\\])`)

// unescaped is what echo -e and printf make of backslashes.
func unescaped(s string) string {
	return escapes.ReplaceAllStringFunc(s, func(m string) string {
		switch m[1] {
		case 'n':
			return "\n"
		case 't':
			return "\t"
		case '\\':
			return `\`
		case 'x':
			return char(m[2:], 16)
		}
		return char(m[1:], 8)
	})
}

func char(digits string, base int) string {
	n := 0
	for _, d := range strings.ToLower(digits) {
		n = n*base + slices.Index([]rune("0123456789abcdef"), d)
	}
	return string([]byte{byte(n & 0xff)})
}
