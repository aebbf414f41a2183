package tamper

import (
	"slices"
	"strconv"
	"strings"
)

// A word is what a reader of source sees: names, numbers, texts, signs.
type word struct {
	kind sort
	text string // of a text: without its quotes
	line int
}

type sort byte

const (
	name   sort = 'n'
	number sort = '0'
	text   sort = '"'
	sign   sort = '+'
)

// remark is a comment.
type remark struct {
	text string
	line int
	code bool // on a line with code before it
}

func (w word) is(signs ...string) bool {
	if w.kind == text || w.kind == number {
		return false
	}
	return slices.Contains(signs, w.text)
}

func (w word) literal() bool {
	return w.kind == number || w.kind == text || w.kind == name && constant[w.text]
}

var constant = map[string]bool{"true": true, "false": true, "nil": true, "null": true, "undefined": true, "True": true, "False": true, "None": true}

// key is a word as it is compared: one way to write a number, one quote.
func (w word) key() string {
	switch w.kind {
	case text:
		return `"` + w.text
	case number:
		return canonical(w.text)
	case name, sign:
	}
	return w.text
}

func canonical(digits string) string {
	digits = strings.ToLower(strings.ReplaceAll(digits, "_", ""))
	if strings.Contains(digits, ".") && !strings.ContainsAny(digits, "ex") {
		digits = strings.TrimRight(strings.TrimRight(digits, "0"), ".")
	}
	if digits == "" {
		return "0" // .0
	}
	return digits
}

// joined is words as one text, however they were set.
func joined(words []word) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 && i+1 == len(words) && w.is(",") {
			break // a trailing comma
		}
		if w.is(",") && i+1 < len(words) && words[i+1].is(")", "]", "}") {
			continue
		}
		b.WriteString(w.key())
		b.WriteByte(' ')
	}
	return strings.TrimSuffix(b.String(), " ")
}

// begins tells whether words begin with one of some signs.
func begins(words []word, signs ...string) bool { return len(words) > 0 && words[0].is(signs...) }

// spoken is words for people, much as they were written.
func spoken(words []word) string {
	var b strings.Builder
	tight := true
	for _, w := range words[:min(len(words), 60)] {
		if !tight && !w.is(")", "]", ",", ".", "?.", "(", "[", ";", ":") {
			b.WriteByte(' ')
		}
		if w.kind == text {
			b.WriteString(strconv.Quote(w.text))
		} else {
			b.WriteString(w.text)
		}
		tight = w.is("(", "[", ".", "?.", "!", "@")
	}
	return b.String()
}

// bag counts keys.
type bag map[string]int

func bagOf(words []word) bag {
	b := bag{}
	for _, w := range words {
		if w.kind != sign && !common[w.text] {
			b[w.key()]++
		}
	}
	return b
}

// common are names that every test has: they make no two alike.
var common = set(`t b tt tc got want err self assert require expect test it describe if for in not and or return nil None true false
True False def func const let var async await function range Run name Errorf Fatalf Error Fatal Helper to be equal toBe toEqual
assertEqual assertTrue Equal NoError of new pytest undefined null is msg`)

func set(words string) map[string]bool {
	s := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		s[w] = true
	}
	return s
}

func (b bag) size() int {
	n := 0
	for _, k := range b {
		n += k
	}
	return n
}

func (b bag) shared(other bag) int {
	n := 0
	for key, k := range b {
		n += min(k, other[key])
	}
	return n
}

// likeness is from 0 to 1.
func (b bag) likeness(other bag) float64 {
	all := b.size() + other.size()
	if all == 0 {
		return 1
	}
	return 2 * float64(b.shared(other)) / float64(all)
}

// brackets pairs each opening word with its closing one; -1 for those that
// have none. Others are -1 as well.
func brackets(words []word) []int {
	match := make([]int, len(words))
	var open []int
	for i, w := range words {
		match[i] = -1
		if w.kind != sign || len(w.text) != 1 {
			continue
		}
		switch w.text {
		case "(", "[", "{":
			open = append(open, i)
		case ")", "]", "}":
			for n := len(open) - 1; n >= max(0, len(open)-8); n-- { // what is broken in between is given up
				if closes(words[open[n]].text, w.text) {
					match[i], match[open[n]] = open[n], i
					open = open[:n]
					break
				}
			}
		}
	}
	return match
}

func closes(open, shut string) bool {
	return open == "(" && shut == ")" || open == "[" && shut == "]" || open == "{" && shut == "}"
}

// split cuts words at a sign that stands outside all brackets.
func split(words []word, at ...string) [][]word {
	var parts [][]word
	depth, from := 0, 0
	for i, w := range words {
		switch {
		case w.kind == sign && w.is("(", "[", "{"):
			depth++
		case w.kind == sign && w.is(")", "]", "}"):
			depth--
		case depth == 0 && w.is(at...):
			parts = append(parts, words[from:i])
			from = i + 1
		}
	}
	if from < len(words) || len(parts) == 0 {
		parts = append(parts, words[from:])
	}
	return parts
}

// inside takes the parentheses off that hold all of words.
func inside(words []word) []word {
	for len(words) >= 2 && words[0].is("(") && brackets(words)[0] == len(words)-1 {
		words = words[1 : len(words)-1]
	}
	return words
}
