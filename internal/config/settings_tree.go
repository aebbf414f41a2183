package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxBytes = 1 << 20
	maxDepth = 32
)

// readable takes a byte order mark away and refuses what is no text, or more
// of it than limit.
func (d *decoder) readable(f File, limit int) ([]byte, bool) {
	if len(f.Data) > limit {
		d.complain(spot{node: node{at: place{file: f.Name}}}, "found %d bytes, want at most %d", len(f.Data), limit)
		return nil, false
	}
	data := bytes.TrimPrefix(f.Data, []byte("\uFEFF"))
	if !utf8.Valid(data) {
		whole := bytes.ToValidUTF8(data, []byte{0xFF})
		at := place{file: f.Name, line: 1 + bytes.Count(data[:bytes.IndexByte(whole, 0xFF)], []byte("\n"))}
		d.complain(spot{node: node{at: at}}, "found a byte that is not UTF-8, want text")
		return nil, false
	}
	return data, true
}

// json reads a file; encoding/json says where broken syntax is and nothing
// else, so values are made of its tokens.
func (d *decoder) json(f File) (node, bool) {
	data, ok := d.readable(f, maxBytes)
	if !ok {
		return node{}, false
	}
	t := tokens{file: f.Name, data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	t.dec.UseNumber()
	for at, b := range data {
		if b == '\n' {
			t.breaks = append(t.breaks, at)
		}
	}
	var whole json.RawMessage
	err := json.Unmarshal(data, &whole)
	var root node
	if err == nil {
		root, err = t.value()
	}
	if err != nil {
		d.problems = append(d.problems, t.problem(err))
	}
	return root, err == nil
}

// tokens are those of one file of JSON.
type tokens struct {
	file   string
	data   []byte
	dec    *json.Decoder
	breaks []int // where the lines end
	depth  int
}

var errDeep = fmt.Errorf("nested deeper than %d levels", maxDepth)

func (t *tokens) value() (node, error) {
	n := node{at: t.next()}
	token, err := t.dec.Token()
	if err != nil {
		return n, err
	}
	switch token := token.(type) {
	case json.Delim:
		return t.inside(n, token)
	case json.Number:
		n.kind, n.text = kindNumber, token.String()
	case string:
		n.kind, n.text = kindText, token
	case bool:
		n.kind, n.text = kindBool, fmt.Sprint(token)
	case nil:
		n.kind = kindNull
	}
	return n, nil
}

func (t *tokens) inside(n node, open json.Delim) (node, error) {
	if t.depth++; t.depth > maxDepth {
		return n, errDeep
	}
	n.kind = kindList
	if open == '{' {
		n.kind = kindObject
	}
	for t.dec.More() {
		if err := t.element(&n); err != nil {
			return n, err
		}
	}
	t.depth--
	_, err := t.dec.Token()
	return n, err
}

func (t *tokens) element(n *node) error {
	var m member
	if n.kind == kindObject {
		m.at = t.next()
		key, err := t.dec.Token()
		if err != nil {
			return err
		}
		m.key = fmt.Sprint(key)
	}
	value, err := t.value()
	if m.value = value; n.kind == kindObject {
		n.members = append(n.members, m)
	} else {
		n.items = append(n.items, value)
	}
	return err
}

// next is where the coming token starts.
func (t *tokens) next() place {
	at := int(t.dec.InputOffset())
	for at < len(t.data) && strings.IndexByte(" \t\r\n,:", t.data[at]) >= 0 {
		at++
	}
	before, _ := slices.BinarySearch(t.breaks, at)
	return place{file: t.file, line: before + 1}
}

func (t *tokens) problem(err error) problem {
	broken, is := errors.AsType[*json.SyntaxError](err)
	if !is {
		return problem{at: place{file: t.file}, text: err.Error()}
	}
	at := min(max(int(broken.Offset)-1, 0), len(t.data))
	before := t.data[:at]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return problem{
		at:   place{t.file, bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(line) + 1},
		text: "broken JSON: " + broken.Error() + remedy(before, t.data[at:]),
	}
}

// remedy knows the two slips that people make most.
func remedy(before, rest []byte) string {
	switch {
	case bytes.HasPrefix(rest, []byte("/")) || bytes.HasPrefix(rest, []byte("#")):
		return " (JSON has no comments)"
	case bytes.IndexAny(rest, "]}") == 0 && bytes.HasSuffix(bytes.TrimSpace(before), []byte(",")):
		return " (no comma after the last one)"
	default:
		return ""
	}
}

// node is a value of a file, JSON or YAML, that remembers where it stands.
type node struct {
	kind    kind
	at      place
	text    string // of a string or a number; true or false
	members []member
	items   []node
}

type member struct {
	key   string
	at    place
	value node
}

type kind int

const (
	kindNone kind = iota // there is no value
	kindNull
	kindBool
	kindNumber
	kindText
	kindList
	kindObject
	kindOdd // only YAML has it, and text says what it is
)

// place is where a value or a problem is. A column is only told where syntax
// is broken: keys are found by their names.
type place struct {
	file         string
	line, column int
}

func (p place) String() string {
	switch {
	case p.line == 0:
		return p.file
	case p.column == 0:
		return fmt.Sprintf("%s:%d", p.file, p.line)
	default:
		return fmt.Sprintf("%s:%d:%d", p.file, p.line, p.column)
	}
}

// String says what was found there.
func (n node) String() string {
	switch n.kind {
	case kindNone:
		return "nothing"
	case kindNull:
		return "null"
	case kindBool, kindNumber, kindOdd:
		return clip(n.text)
	case kindText:
		return fmt.Sprintf("%q", clip(n.text))
	case kindList:
		return "a list"
	case kindObject:
		return "an object"
	}
	return "something"
}

// clip keeps a message from being as long as the value it complains of.
func clip(s string) string {
	const longest = 60
	if utf8.RuneCountInString(s) <= longest {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:longest-1])) + "…"
}

// member is the value of a key; null counts as none, as the files that seed
// 001's init wrote have it for lists that are empty.
func (n node) member(key string) (node, bool) {
	for _, m := range n.members {
		if m.key == key && m.value.kind != kindNull {
			return m.value, true
		}
	}
	return node{at: n.at}, false
}

// merge lays over upon base: objects key by key, all else as a whole.
func merge(base, over node) node {
	if over.kind == kindNull {
		return base
	}
	if base.kind != kindObject || over.kind != kindObject {
		return over
	}
	base.members = slices.Clone(base.members)
	for _, m := range over.members {
		i := slices.IndexFunc(base.members, func(b member) bool { return b.key == m.key })
		if i < 0 {
			base.members = append(base.members, m)
			continue
		}
		base.members[i].value = merge(base.members[i].value, m.value)
	}
	return base
}
