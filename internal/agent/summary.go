package agent

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxOutput = 16 << 10 // of a tool, for a console that shows some lines of it
	maxShort  = 200      // runes of what is said on one line
	maxOpen   = 256      // messages or calls that a decoder keeps in mind at once
)

// toolInput has the keys that describe a tool's input best, in order.
type toolInput struct {
	FilePath     string `json:"file_path"`
	FilePath2    string `json:"filePath"`
	NotebookPath string `json:"notebook_path"`
	Command      string `json:"command"`
	Cmd          string `json:"cmd"`
	Pattern      string `json:"pattern"`
	URL          string `json:"url"`
	Query        string `json:"query"`
	Path         string `json:"path"`
	Skill        string `json:"skill"`
	Description  string `json:"description"`
	Prompt       string `json:"prompt"`
}

func summary(input jsontext.Value) string {
	var in toolInput
	readLine(input, &in)
	return Short(cmp.Or(in.FilePath, in.FilePath2, in.NotebookPath, in.Command, in.Cmd, in.Pattern, in.URL, in.Query, in.Path,
		in.Skill, in.Description, in.Prompt, string(input)))
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
