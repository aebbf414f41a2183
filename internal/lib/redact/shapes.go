package redact

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// A shape finds a token by its form.
type shape struct {
	prefix string         // of the token, or of what stands before it
	inWord bool           // letters may stand before the prefix
	whole  *regexp.Regexp // matches at the prefix; its last group is the secret
	part   *regexp.Regexp // matches what may become, or lengthen, such a token
}

// A stream holds back at most this much for a shape.
const longestShape = 16 << 10

// match returns where the secret is in s. open says that more text could make or lengthen it.
func (x shape) match(s []byte) (from, to int, open bool) {
	n := min(len(s), len(x.prefix))
	if string(s[:n]) != x.prefix[:n] {
		return 0, 0, false
	}
	if n < len(x.prefix) {
		return 0, 0, true
	}
	mayGrow := len(s) < longestShape && x.part.Match(s)
	found := x.whole.FindSubmatchIndex(s[:min(len(s), longestShape)])
	if found == nil {
		return 0, 0, mayGrow
	}
	return found[2], found[3], mayGrow
}

// tokens are the prefixes of tokens, the characters that follow, and how many at least.
var tokens = []struct {
	prefixes, of string
	min          int
}{
	{"ghp_ gho_ ghu_ ghr_ github_pat_ sk-", `\w`, 20},
	{"ghs_", `[\w.-]`, 20},
	{"sk-ant-", `[\w-]`, 12},
	{"sk-proj- sk-svcacct- sk-or-", `[\w-]`, 20},
	{"AIza", `[\w-]`, 30},
	{"xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", `[\w-]`, 10},
	{"AKIA ASIA", `[A-Z0-9]`, 16},
	{"glpat-", `[\w.-]`, 16},
	{"npm_", `\w`, 30},
}

// A private key ends with its last line, or where its lines no longer look like one: other text between two marks
// can be the fields of a JSON object.
const (
	keyBegin   = `-----BEGIN [A-Z0-9 ]{0,64}PRIVATE KEY(?: BLOCK)?-----`
	keyHeader  = `(?:[\r\n]|\\+[rn])+[ \t]*[A-Za-z-]+`
	keyHeaders = `(?:` + keyHeader + `: [A-Za-z0-9 ,.:/+=()@-]*)*` // of an encrypted key
	keyLines   = `(?:[A-Za-z0-9+/=\s]|\\+[nrt])*`
	keyCut     = `(?:[A-Za-z0-9+/=\r\n]|\\+[nr])*`
)

const (
	headerGap   = `[ \t"'\\]{0,16}`
	headerValue = "[^\\s\"'`<>\\\\]"
	schemes     = `(?i:bearer|basic|token|digest|negotiate|apikey|bot)`
)

// shapes returns each shape by the first two bytes of its prefix. Most commands hide nothing, and compile none.
var shapes = sync.OnceValue(func() map[uint16][]shape {
	all := map[uint16][]shape{}
	add := func(x shape, whole, part string) {
		x.whole = regexp.MustCompile("^" + whole)
		x.part = regexp.MustCompile("^(?:" + part + ")$")
		two := pair(x.prefix[0], x.prefix[1])
		all[two] = append(all[two], x)
	}
	for _, t := range tokens {
		for prefix := range strings.FieldsSeq(t.prefixes) {
			add(shape{prefix: prefix}, fmt.Sprintf("(%s%s{%d,})", prefix, t.of, t.min), prefix+t.of+"*")
		}
	}
	add(shape{prefix: "eyJ"}, `(eyJ[\w-]+\.[\w-]*(?:\.[\w-]+)+)`, `eyJ[\w.-]*`) // a JSON web token
	add(shape{prefix: "-----BEGIN ", inWord: true},
		"("+keyBegin+keyHeaders+"(?:"+keyLines+"-----END [A-Z0-9 ]{0,64}-----|"+keyCut+"))",
		`-----BEGIN [A-Z0-9 ]{0,80}-{0,4}|`+keyBegin+keyHeaders+"(?:"+keyHeader+":?|"+keyLines+`\\*)`+
			`(?:-{0,5}|-----E?N?D?|-----END [A-Z0-9 ]{0,64}-{0,4})`)
	for _, name := range []string{"authorization", "Authorization", "AUTHORIZATION"} {
		add(shape{prefix: name},
			name+headerGap+"[:=]"+headerGap+"("+schemes+" "+headerValue+"{8,}|"+headerValue+"{16,})",
			name+headerGap+"(?:[:=]"+headerGap+"(?:"+headerValue+"+|"+schemes+" "+headerValue+"*)?)?")
	}
	return all
})
