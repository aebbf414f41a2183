package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

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
