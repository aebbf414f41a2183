package tamper

import (
	"strings"
)

// flatObject reads the object literals of JSON, with remarks or without, and
// of settings that are written as a program.
func flatObject(src string) []setting {
	words, _ := scriptWords(src)
	o := &object{words: words, match: brackets(words)}
	o.value(0, len(words), "", 0)
	return o.all
}

type object struct {
	words []word
	match []int
	all   []setting
}

// value reads what stands between two words; each object in it adds its keys.
func (o *object) value(from, to int, key string, depth int) {
	if depth > 100 || from >= to || len(o.all) > maxKeys {
		return
	}
	switch first := o.words[from]; {
	case first.is("{") && first.kind == sign && o.match[from] == to-1:
		o.members(from+1, to-1, key, depth)
	case first.is("[") && first.kind == sign && o.match[from] == to-1:
		o.elements(from+1, to-1, key, depth)
	case to-from == 1 || to-from == 2 && first.is("-"):
		o.all = append(o.all, setting{key, words(o.words[from:to]), first.line})
	default:
		o.inner(from, to, key, depth)
	}
}

func words(list []word) string {
	var b strings.Builder
	for _, w := range list {
		b.WriteString(w.text)
	}
	return b.String()
}

// inner looks for objects and lists in an expression or a program. What is
// named or called in a list is a value too.
func (o *object) inner(from, to int, key string, depth int) {
	named := true
	for i := from; i < to; i++ {
		w := o.words[i]
		if w.kind == sign && w.is("{", "[", "(") && o.match[i] > 0 && o.match[i] < to {
			named = false
			if w.is("(") {
				o.elements(i+1, o.match[i], key, depth+1)
			} else {
				o.value(i, o.match[i]+1, key, depth+1)
			}
			i = o.match[i]
		}
	}
	if named && to-from < 20 && strings.HasSuffix(key, "]") {
		o.all = append(o.all, setting{key, strings.TrimPrefix(words(o.words[from:to]), "..."), o.words[from].line})
	}
}

func (o *object) parts(from, to int) [][2]int {
	var parts [][2]int
	begin := from
	for i := from; i < to; i++ {
		if o.words[i].kind == sign && o.match[i] > i {
			i = o.match[i]
			continue
		}
		if o.words[i].is(",") {
			parts = append(parts, [2]int{begin, i})
			begin = i + 1
		}
	}
	return append(parts, [2]int{begin, to})
}

func (o *object) members(from, to int, key string, depth int) {
	for _, p := range o.parts(from, to) {
		switch {
		case p[1]-p[0] >= 3 && o.words[p[0]+1].is(":"):
			o.value(p[0]+2, p[1], joinKey(key, o.words[p[0]].text), depth+1)
		case p[0] < p[1]:
			o.inner(p[0], p[1], key, depth+1)
		}
	}
}

func (o *object) elements(from, to int, key string, depth int) {
	for _, p := range o.parts(from, to) {
		if p[0] >= p[1] {
			continue
		}
		if o.words[p[0]].is("{") {
			o.value(p[0], p[1], key, depth+1)
		} else {
			o.value(p[0], p[1], key+"[]", depth+1)
		}
	}
}
