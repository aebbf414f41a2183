// Package jsontree reads JSON into values that know their line. encoding/json
// gives a position for syntax errors only, and merges duplicate keys.
package jsontree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Node is a value of a file, mostly of JSON.
type Node struct {
	Kind    Kind
	File    string
	Line    int             // from 1
	Text    string          // of a string or a number; true or false
	Raw     json.RawMessage // as it stands in JSON
	Members []Member
	Items   []Node
}

// Member is a key of an object, with its value.
type Member struct {
	Key   string
	Line  int
	Value Node
}

// Kind is what sort of value a node is.
type Kind int

// The kinds. None is no value at all.
const (
	None Kind = iota
	Null
	Bool
	Number
	Text
	List
	Object
)

// String returns what was found there.
func (n Node) String() string {
	switch n.Kind {
	case None:
		return "nothing"
	case Null:
		return "null"
	case Bool, Number:
		return Clip(n.Text, MaxFound)
	case Text:
		return fmt.Sprintf("%q", Clip(n.Text, MaxFound))
	case List:
		return "a list"
	case Object:
		return "an object"
	}
	return "something"
}

// MaxFound keeps a message from being as long as the value it complains of.
const MaxFound = 60

// Clip cuts a text to n runes, the last of them dots where it was longer.
func Clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:n-1])) + "…"
}

// Plain removes a byte order mark, and refuses binary data and more than most bytes.
func Plain(file string, data []byte, most int) ([]byte, *Problem) {
	if len(data) > most {
		return nil, &Problem{File: file, Text: fmt.Sprintf("found %d bytes, want at most %d", len(data), most)}
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if utf8.Valid(data) {
		return data, nil
	}
	bad := bytes.IndexByte(bytes.ToValidUTF8(data, []byte{0xFF}), 0xFF)
	return nil, &Problem{
		File: file,
		Line: 1 + bytes.Count(data[:bad], []byte("\n")),
		Text: "found a byte that is not UTF-8, want text",
	}
}

// Parse reads one value.
func Parse(file string, data []byte, most int) (Node, *Problem) {
	data, problem := Plain(file, data, most)
	if problem != nil {
		return Node{}, problem
	}
	p := parser{file: file, data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	p.dec.UseNumber()
	for at, b := range data {
		if b == '\n' {
			p.breaks = append(p.breaks, at)
		}
	}
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return Node{}, p.problem(err)
	}
	root, err := p.value()
	if err != nil {
		return Node{}, p.problem(err)
	}
	return root, nil
}

type parser struct {
	file   string
	data   []byte
	dec    *json.Decoder
	breaks []int // where the lines end
	depth  int
}

// maxDepth keeps indentation from making a large file of a small one.
const maxDepth = 32

// errDeep is for values within too many others.
var errDeep = fmt.Errorf("nested deeper than %d levels", maxDepth)

func (p *parser) value() (Node, error) {
	at := p.next()
	n := Node{File: p.file, Line: p.line(at)}
	token, err := p.dec.Token()
	if err != nil {
		return n, err
	}
	switch token := token.(type) {
	case json.Delim:
		err = p.inside(&n, token)
	case json.Number:
		n.Kind, n.Text = Number, token.String()
	case string:
		n.Kind, n.Text = Text, token
	case bool:
		n.Kind, n.Text = Bool, fmt.Sprint(token)
	case nil:
		n.Kind = Null
	}
	n.Raw = p.data[at:p.dec.InputOffset()]
	return n, err
}

func (p *parser) inside(n *Node, open json.Delim) error {
	p.depth++
	if p.depth > maxDepth {
		return errDeep
	}
	n.Kind = List
	if open == '{' {
		n.Kind = Object
	}
	for p.dec.More() {
		if err := p.element(n); err != nil {
			return err
		}
	}
	p.depth--
	_, err := p.dec.Token()
	return err
}

func (p *parser) element(n *Node) error {
	m := Member{Line: p.line(p.next())}
	if n.Kind == Object {
		key, err := p.dec.Token()
		if err != nil {
			return err
		}
		m.Key = fmt.Sprint(key)
	}
	value, err := p.value()
	if n.Kind == Object {
		m.Value = value
		n.Members = append(n.Members, m)
	} else {
		n.Items = append(n.Items, value)
	}
	return err
}

func (p *parser) next() int {
	at := int(p.dec.InputOffset())
	for at < len(p.data) && strings.IndexByte(" \t\r\n,:", p.data[at]) >= 0 {
		at++
	}
	return at
}

func (p *parser) line(at int) int {
	before, _ := slices.BinarySearch(p.breaks, at)
	return before + 1
}

func (p *parser) problem(err error) *Problem {
	broken, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return &Problem{File: p.file, Text: err.Error()}
	}
	at := min(max(int(broken.Offset)-1, 0), len(p.data))
	before := p.data[:at]
	return &Problem{
		File:   p.file,
		Line:   p.line(at),
		Column: utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1,
		Text:   "broken JSON: " + broken.Error() + remedy(before, p.data[at:]),
	}
}

// remedy knows the two most frequent mistakes.
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
