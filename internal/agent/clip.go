package agent

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// clipper cuts the long strings in a line of JSON. What tools print is nearly
// all that agents print, of which some lines are shown: to read the rest as
// JSON, several times over, would take longer than anything else.
type clipper struct{ kept []byte }

const (
	longLine   = 2 * maxOutput
	enough     = 1000                   // characters of a string in it: a console shows 800
	maxClipped = enough * len(`\u0000`) // bytes that these have at most
)

// sparing cuts the strings of a long line, if it holds what a tool said, by one
// mark, and none of the agent's own words, by others: marks are keys and values,
// whose quotes would be escaped in any text. A line holds until the next call.
func (c *clipper) sparing(tool string, words ...string) func(line []byte) []byte {
	return func(line []byte) []byte {
		if len(line) <= longLine {
			return line
		}
		cut := c.clip(line)
		said := func(mark string) bool { return bytes.Contains(cut, []byte(mark)) }
		if !said(tool) || slices.ContainsFunc(words, said) {
			return line
		}
		return cut
	}
}

// clip is line with its long strings cut. What is no JSON stays none.
func (c *clipper) clip(line []byte) []byte {
	c.kept = c.kept[:0]
	copied := 0
	for at := 0; ; {
		quote := bytes.IndexByte(line[at:], '"')
		if quote < 0 {
			break
		}
		begin := at + quote + 1
		end := endOfString(line, begin)
		if end < 0 {
			break
		}
		if end-begin > maxClipped {
			c.kept = append(c.kept, line[copied:beginning(line, begin)]...)
			copied = end
		}
		at = end + 1
	}
	if copied == 0 {
		return line
	}
	c.kept = append(c.kept, line[copied:]...)
	return c.kept
}

// endOfString is where the quote stands that ends a string; below 0 where none
// does.
func endOfString(line []byte, begin int) int {
	for at := begin; ; {
		quote := bytes.IndexByte(line[at:], '"')
		if quote < 0 {
			return -1
		}
		at += quote
		slashes := 0
		for at-slashes > begin && line[at-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return at
		}
		at++
	}
}

// beginning is where in a long string enough characters end.
func beginning(line []byte, at int) int {
	for range enough {
		switch {
		case line[at] != '\\':
			_, size := utf8.DecodeRune(line[at:])
			at += size
		case line[at+1] == 'u':
			at += len(`\u0000`)
		default:
			at += len(`\n`)
		}
	}
	return at
}

const (
	maxOutput = 16 << 10 // of a tool, for a console that shows some lines of it
	maxShort  = 200      // runes of what is said on one line
	maxOpen   = 256      // messages or calls that a decoder keeps in mind at once
)

// telling are the keys of a tool's input that say what it is about, the most
// telling first.
var telling = []string{
	"file_path", "filePath", "notebook_path", "command", "cmd", "pattern", "url", "query", "path",
	"skill", "description", "prompt",
}

// summary is a tool's input as a short line that a person can read.
func summary(input json.RawMessage) string {
	var keys map[string]json.RawMessage
	if json.Unmarshal(input, &keys) == nil {
		for _, key := range telling {
			var text string
			if json.Unmarshal(keys[key], &text) == nil && text != "" {
				return Short(text)
			}
		}
	}
	return Short(string(input))
}

// Short is s on one line, cut where it is long.
func Short(s string) string {
	return head(strings.Join(strings.Fields(head(s, 16*maxShort)), " "), maxShort)
}

// head is the beginning of s, at most n bytes of whole runes.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// bounded remembers the newest maxOpen values by key.
type bounded[V any] struct {
	of    map[string]V
	order []string
}

func (b *bounded[V]) put(key string, v V) (gone V, full bool) {
	if b.of == nil {
		b.of = map[string]V{}
	}
	if _, standing := b.of[key]; !standing {
		b.order = append(b.order, key)
	}
	b.of[key] = v
	if len(b.order) <= maxOpen {
		return gone, false
	}
	oldest := b.order[0]
	b.order = b.order[1:]
	gone, full = b.of[oldest]
	delete(b.of, oldest)
	return gone, full
}

func (b *bounded[V]) drop(key string) bool {
	_, standing := b.of[key]
	if standing { // what is forgotten takes no room
		delete(b.of, key)
		b.order = slices.DeleteFunc(b.order, func(k string) bool { return k == key })
	}
	return standing
}
