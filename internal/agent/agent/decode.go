package agent

import (
	"bytes"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/clean"
)

// Decoder turns the lines that an agent prints into Items. It is fed in order
// and from one goroutine; every Text it gives holds whole lines.
type Decoder interface {
	Line(line []byte) []stream.Item
	End() []stream.Item // the items that depend on the end of the output
}

type protocol[L any] interface {
	read(line L) []stream.Item // ignores what it does not know: a newer CLI may print more
	unfinished() []stream.Item // the result of an agent that was killed before it reported one
}

// lineDecoder is the Decoder of a CLI that prints lines of JSON. Other lines are shown.
type lineDecoder[L any] struct {
	protocol[L]
	line      L    // the last one
	hasJSON   bool // it printed a line of JSON
	hasResult bool
}

func decoderOf[L any](p protocol[L]) *lineDecoder[L] { return &lineDecoder[L]{protocol: p} }

// Line reads one line.
func (d *lineDecoder[L]) Line(line []byte) []stream.Item {
	if !readLine(line, &d.line) {
		return asProgress(string(line))
	}
	d.hasJSON = true
	items := d.read(d.line)
	for _, item := range items {
		if _, ok := item.(stream.Result); ok {
			d.hasResult = true
		}
	}
	return items
}

// End returns a result for an agent that began and did not report one.
func (d *lineDecoder[L]) End() []stream.Item {
	if d.hasResult || !d.hasJSON {
		return nil
	}
	return d.unfinished()
}

// NoResult is the reason of an agent that did not report how it ended.
const NoResult = "ended without a result"

func asProgress(text string) []stream.Item {
	text = Short(text)
	if text == "" {
		return nil
	}
	return []stream.Item{stream.Progress{Text: text}}
}

// readLine reads a line of JSON leniently: it leaves keys of unexpected types empty.
func readLine[T any](line []byte, into *T) bool {
	*into = *new(T)
	if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
		return false
	}
	err := json.Unmarshal(line, into,
		jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true),
		jsonv1.ReportErrorsWithLegacySemantics(true))
	_, isMismatch := errors.AsType[*jsonv1.UnmarshalTypeError](err)
	return err == nil || isMismatch
}

const (
	maxOutput = 16 << 10 // of a tool, for a console that shows some lines of it
	maxShort  = 200      // of a text on one line
)

// summaryKeys are the keys that describe a tool's input best, in order.
var summaryKeys = strings.Fields(
	"file_path filePath notebook_path command cmd pattern url query path skill description prompt")

func summary(input jsontext.Value) string {
	var in map[string]jsontext.Value
	readLine(input, &in)
	for _, key := range summaryKeys {
		var text string
		if json.Unmarshal(in[key], &text) == nil && text != "" {
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
	if len(s) > n {
		s = clean.Truncate(s, n) + "…"
	}
	return s
}
