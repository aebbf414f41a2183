package redact

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// A shape recognises a token that begins at at without having been told it.
// The secret itself begins skip bytes later and is size bytes long; size 0 is
// none. open says that more text could still make or lengthen it.
type shape func(t *text, at int) (skip, size int, open bool)

// A stream holds back at most this much for a shape.
const longestShape = 16 << 10

const (
	webBegin = "eyJ"
	pemBegin = "-----BEGIN "
	pemEnd   = "-----END "
)

var tokens = slices.Concat(
	runs("ghp_ gho_ ghu_ ghr_ github_pat_ sk-", alnum, 20, 255),
	runs("ghs_", alnum|dash|dot, 20, 2048),
	runs("sk-ant-", alnum|dash, 12, 255),
	runs("sk-proj- sk-svcacct- sk-or-", alnum|dash, 20, 255),
	runs("AIza", alnum|dash, 30, 100),
	runs("xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", alnum|dash, 10, 255),
	runs("AKIA ASIA", upper, 16, 16),
	runs("glpat-", alnum|dash|dot, 16, 255),
	runs("npm_", alnum, 30, 255),
)

func runs(prefixes string, of class, least, most int) (all []run) {
	for prefix := range strings.FieldsSeq(prefixes) {
		all = append(all, run{prefix, of, least, most})
	}
	return all
}

var shapes = func() (all [256][]shape) {
	for _, t := range tokens {
		all[t.prefix[0]] = append(all[t.prefix[0]], t.match)
	}
	all['e'] = append(all['e'], webToken)
	all['-'] = append(all['-'], privateKey)
	all['a'] = append(all['a'], authorization)
	all['A'] = append(all['A'], authorization)
	return all
}()

type class uint8

const (
	upper   class = 1 << iota // A-Z 0-9
	alnum                     // letters, digits and _
	dash                      // -
	dot                       // .
	pemBody                   // + / = and line ends, as they are and as \n
	indent                    // space and tab
	value                     // anything but white space, quotes and brackets
)

func (c class) has(b byte) bool { return c&classes[b] != 0 }

var classes = func() (all [256]class) {
	set := func(c class, members string) {
		for i := range len(members) {
			all[members[i]] |= c
		}
	}
	const capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	set(upper, capitals)
	set(alnum, capitals+"abcdefghijklmnopqrstuvwxyz_")
	set(dash, "-")
	set(dot, ".")
	set(pemBody, "+/=\\\r\n")
	set(indent, " \t")
	for b := range all {
		if b > ' ' && strings.IndexByte("\"'`<>\\", byte(b)) < 0 {
			all[b] |= value
		}
	}
	return all
}()

// text is what shapes look at. It keeps how far the bytes of a class go on: tokens may begin
// at every few of them, and each would count them again.
type text struct {
	s    []byte
	runs [2 * value]struct{ from, to int } // by class
}

func (t *text) span(c class, from, limit int) int {
	run := &t.runs[c]
	if from < run.from || from >= run.to {
		run.from, run.to = from, from
		for run.to < len(t.s) && c.has(t.s[run.to]) {
			run.to++
		}
	}
	return min(run.to-from, limit)
}

type run struct {
	prefix string
	of     class
	min    int
	max    int
}

func (r run) match(t *text, at int) (skip, size int, open bool) {
	if inWord(t.s, at) {
		return 0, 0, false
	}
	rest := t.s[at:]
	if whole, part := begins(rest, r.prefix); !whole {
		return 0, 0, part
	}
	n := t.span(r.of, at+len(r.prefix), r.max)
	open = len(r.prefix)+n == len(rest) && n < r.max
	if n < r.min {
		return 0, 0, open
	}
	return 0, len(r.prefix) + n, open
}

func begins(s []byte, prefix string) (whole, part bool) {
	n := min(len(s), len(prefix))
	same := string(s[:n]) == prefix[:n]
	return same && n == len(prefix), same && n < len(prefix)
}

// The sk- of "task-list" is no beginning of a token.
func inWord(s []byte, at int) bool {
	return at > 0 && alnum.has(s[at-1]) && s[at-1] != '_'
}

// webToken finds a JSON web token: three parts, the first begins with {" in base64.
func webToken(t *text, at int) (skip, size int, open bool) {
	skip, size, open = run{webBegin, alnum | dash | dot, 14, 15_000}.match(t, at)
	token := bytes.TrimRight(t.s[at:at+size], ".") // a sentence ends
	if bytes.Count(token, []byte(".")) < 2 {
		return 0, 0, open
	}
	return skip, len(token), open
}

// privateKey hides nothing but a key: anything else up to an end could be the fields of a JSON object, or words of ralph's.
func privateKey(t *text, at int) (skip, size int, open bool) {
	head, open := pemLine(t, at, pemBegin)
	name := bytes.TrimRight(t.s[at:at+head], "-")
	if !bytes.HasSuffix(name, []byte("PRIVATE KEY")) && !bytes.HasSuffix(name, []byte("PRIVATE KEY BLOCK")) {
		return 0, 0, open
	}
	rest := t.s[at:]
	whole := len(rest) >= longestShape
	rest = rest[:min(len(rest), longestShape)]
	head += len(pemHeader.Find(rest[head:]))
	body := t.span(alnum|pemBody|indent, at+head, len(rest)-head)
	if tail, _ := pemLine(t, at+head+body, pemEnd); tail > 0 {
		return 0, head + body + tail, false
	}
	// It never ends, or not yet: its lines go on while they look like a key.
	return 0, head + t.span(alnum|pemBody, at+head, len(rest)-head), !whole
}

// pemLine returns the size of the first or last line of a key or certificate.
func pemLine(t *text, at int, begin string) (size int, open bool) {
	const fence, longest = "-----", 64
	whole, part := begins(t.s[at:], begin)
	if !whole {
		return 0, part
	}
	label := t.span(alnum|indent, at+len(begin), longest+1)
	size = len(begin) + label
	if whole, part = begins(t.s[at+size:], fence); !whole || label > longest {
		return 0, part && label <= longest
	}
	return size + len(fence), false
}

// pemHeader matches the lines above the body of an encrypted key, up to another key.
var pemHeader = regexp.MustCompile(`^(?:(?:[\r\n]|\\+[rn])+[ \t]*[A-Za-z-]+: (?:-?[A-Za-z0-9 ,.:/+=()@])*)+`)

// authorization finds the value of an Authorization header. A single word must be long.
func authorization(t *text, at int) (skip, size int, open bool) {
	const name, longestValue = "authorization", 4096
	rest := t.s[at:]
	n := min(len(rest), len(name))
	if !strings.EqualFold(string(rest[:n]), name[:n]) || inWord(t.s, at) {
		return 0, 0, false
	}
	const longestGap = 16
	after := rest[n:min(n+longestGap, len(rest))]
	gap := len(after) - len(bytes.TrimLeft(after, " \t:=\"'\\"))
	skip = n + gap
	if skip == len(rest) && gap < longestGap {
		return 0, 0, true
	}
	if !bytes.ContainsAny(rest[n:skip], ":=") {
		return 0, 0, false
	}
	word := t.span(value, at+skip, longestValue)
	space := bytes.HasPrefix(rest[skip+word:], []byte(" "))
	secret := 0
	if space {
		secret = t.span(value, at+skip+word+1, longestValue)
	}
	size = word
	if space && secret >= 8 && slices.Contains(schemes, strings.ToLower(string(rest[skip:skip+word]))) {
		size = word + 1 + secret
	} else if word < 16 {
		size = 0
	}
	seen := skip + word
	if space {
		seen += 1 + secret
	}
	return skip, size, seen == len(rest) && word < longestValue && secret < longestValue
}

var schemes = []string{"bearer", "basic", "token", "digest", "negotiate", "apikey", "bot"}
