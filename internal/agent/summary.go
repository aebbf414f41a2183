package agent

import (
	"errors"
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
	best := described{rank: len(summaryKeys)}
	if _ = json.Unmarshal(input, &best, lenient); best.text != "" {
		return Short(best.text)
	}
	return Short(string(input))
}

type described struct {
	text string
	rank int // among summaryKeys
}

func (d *described) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	return members(from, func(key []byte) error {
		rank := slices.Index(summaryKeys[:d.rank], string(key))
		if rank < 0 {
			return from.SkipValue()
		}
		var text string
		err := field{into: &text}.read(from)
		if text != "" {
			d.text, d.rank = text, rank
		}
		if d.rank == 0 {
			return errBest
		}
		return err
	})
}

var errBest = errors.New("no key describes it better")

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

func (b *bounded[V]) put(key string, v V) {
	if b.of == nil {
		b.of = map[string]V{}
	}
	if _, standing := b.of[key]; !standing {
		b.order = append(b.order, key)
	}
	b.of[key] = v
	if len(b.order) > maxOpen {
		delete(b.of, b.order[0])
		b.order = b.order[1:]
	}
}

func (b *bounded[V]) drop(key string) bool {
	_, standing := b.of[key]
	if standing { // what is forgotten takes no room
		delete(b.of, key)
		b.order = slices.DeleteFunc(b.order, func(k string) bool { return k == key })
	}
	return standing
}
