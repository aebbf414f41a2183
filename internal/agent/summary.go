package agent

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxOutput = 16 << 10 // of a tool, for a console that shows some lines of it
	maxShort  = 200      // runes of what is said on one line
	maxOpen   = 256      // messages or calls that a decoder keeps in mind at once
)

// summaryKeys are the keys that describe a tool's input best, in order.
var summaryKeys = []string{
	"file_path", "filePath", "notebook_path", "command", "cmd", "pattern", "url", "query", "path",
	"skill", "description", "prompt",
}

func summary(input jsontext.Value) string {
	keys, _ := readLine[map[string]jsontext.Value](input)
	for _, key := range summaryKeys {
		var text string
		if json.Unmarshal(keys[key], &text, lenient) == nil && text != "" {
			return Short(text)
		}
	}
	return Short(string(input))
}

// Short is s on one line, cut where it is long.
func Short(s string) string {
	return truncate(strings.Join(strings.Fields(truncate(s, 16*maxShort)), " "), maxShort)
}

func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

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
