package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// node is a JSON value that remembers where it stands: encoding/json tells
// the place of broken syntax only, and neither keeps two equal keys apart.
type node struct {
	at, end int
	kind    byte // its first byte, or one of the kinds below
	text    string
	members []member
	items   []node
}

type member struct {
	at    int
	key   string
	value node
}

const (
	kindNone   = '-'
	kindNumber = '0'
)

type twin struct {
	at        int
	path, key string
}

// parse reads one JSON value and lists the keys that are there twice. Its
// error is a *json.SyntaxError where the syntax is to blame.
func parse(data []byte) (node, []twin, error) {
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return node{}, nil, err
	}
	p := parser{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	p.dec.UseNumber()
	root, err := p.value("")
	return root, p.twins, err
}

type parser struct {
	data  []byte
	dec   *json.Decoder
	depth int
	twins []twin
}

// maxDepth keeps indentation from making a large file of a small one.
const maxDepth = 32

var errDeep = fmt.Errorf("nested deeper than %d levels", maxDepth)

func (p *parser) value(path string) (node, error) {
	n := node{at: p.next()}
	token, err := p.dec.Token()
	if err != nil {
		return n, err
	}
	n.kind = p.data[n.at]
	switch t := token.(type) {
	case json.Delim:
		err = p.inside(&n, path)
	case json.Number:
		n.kind, n.text = kindNumber, t.String()
	case string:
		n.text = t
	}
	n.end = int(p.dec.InputOffset())
	return n, err
}

func (p *parser) inside(n *node, path string) error {
	if p.depth++; p.depth > maxDepth {
		return errDeep
	}
	seen := map[string]bool{}
	for p.dec.More() {
		var err error
		if n.kind == '{' {
			err = p.member(n, path, seen)
		} else {
			var item node
			item, err = p.value(fmt.Sprintf("%s[%d]", path, len(n.items)))
			n.items = append(n.items, item)
		}
		if err != nil {
			return err
		}
	}
	p.depth--
	_, err := p.dec.Token()
	return err
}

func (p *parser) member(n *node, path string, seen map[string]bool) error {
	m := member{at: p.next()}
	token, err := p.dec.Token()
	if err != nil {
		return err
	}
	m.key, _ = token.(string)
	if seen[m.key] {
		p.twins = append(p.twins, twin{m.at, path, m.key})
	}
	seen[m.key] = true
	m.value, err = p.value(join(path, m.key))
	n.members = append(n.members, m)
	return err
}

func (p *parser) next() int {
	at := int(p.dec.InputOffset())
	for at < len(p.data) && strings.IndexByte(" \t\r\n,:", p.data[at]) >= 0 {
		at++
	}
	return at
}

func (n node) member(key string) node {
	for _, m := range n.members {
		if m.key == key {
			return m.value
		}
	}
	return node{at: n.at, kind: kindNone}
}

// String says what was found there.
func (n node) String() string {
	switch n.kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return fmt.Sprintf("%q", clip(n.text, maxFound))
	case 't':
		return "true"
	case 'f':
		return "false"
	case 'n':
		return "null"
	case kindNumber:
		return clip(n.text, maxFound)
	default:
		return "nothing"
	}
}

func compact(data []byte, n node) json.RawMessage {
	var out bytes.Buffer
	if err := json.Compact(&out, data[n.at:n.end]); err != nil {
		return nil // not reached: the value was parsed before
	}
	return out.Bytes()
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// place is the line of an offset and the column in it, both from 1.
func place(data []byte, at int) (line, column int) {
	before := data[:min(max(at, 0), len(data))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

// syntax makes a problem of an error of parse, with lines above the data.
func syntax(data []byte, above int, err error) Problem {
	var broken *json.SyntaxError
	if !errors.As(err, &broken) {
		return Problem{Text: err.Error()}
	}
	at := int(broken.Offset) - 1
	p := Problem{Text: "broken JSON: " + broken.Error() + remedy(data, at)}
	p.Line, p.Column = place(data, at)
	p.Line += above
	return p
}

// remedy knows the two slips that people and models make most.
func remedy(data []byte, at int) string {
	if at < 0 || at >= len(data) {
		return ""
	}
	before := bytes.TrimRight(data[:at], " \t\r\n")
	switch {
	case strings.IndexByte("]}", data[at]) >= 0 && bytes.HasSuffix(before, []byte(",")):
		return " (no comma after the last one)"
	case data[at] == '/':
		return " (JSON has no comments)"
	default:
		return ""
	}
}
