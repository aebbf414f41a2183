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
	End() []stream.Item // what can only be said once there is no more
}

type protocol[L any] interface {
	read(line L) []stream.Item // ignores what it does not know, so that a newer CLI does no harm
	unfinished() []stream.Item // replaces the result that an agent which was killed did not report
}

// lineDecoder is the Decoder of such a CLI. A line that is not JSON is shown.
type lineDecoder[L any] struct {
	protocol[L]
	line          L // the last one
	spoke, closed bool
}

func decoderOf[L any](p protocol[L]) *lineDecoder[L] { return &lineDecoder[L]{protocol: p} }

// Line reads one line.
func (d *lineDecoder[L]) Line(line []byte) []stream.Item {
	if !readLine(line, &d.line) {
		return asProgress(string(line))
	}
	d.spoke = true
	items := d.read(d.line)
	for _, item := range items {
		if _, ok := item.(stream.Result); ok {
			d.closed = true
		}
	}
	return items
}

// End returns what is missing of the agent's result, if it began at all.
func (d *lineDecoder[L]) End() []stream.Item {
	if d.closed || !d.spoke {
		return nil
	}
	return d.unfinished()
}

// NoResult is the reason of an agent that ended without a word about it.
const NoResult = "ended without a result"

func asProgress(text string) []stream.Item {
	text = Short(text)
	if text == "" {
		return nil
	}
	return []stream.Item{stream.Progress{Text: text}}
}

// readLine reads leniently, as other programs do that read such lines: it leaves keys of unexpected types empty.
func readLine[T any](line []byte, into *T) bool {
	*into = *new(T)
	if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
		return false
	}
	err := json.Unmarshal(line, into,
		jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true),
		jsonv1.ReportErrorsWithLegacySemantics(true))
	return err == nil || isMismatch(err)
}

func isMismatch(err error) bool {
	var mismatch *jsonv1.UnmarshalTypeError
	return errors.As(err, &mismatch)
}

const (
	maxOutput = 16 << 10 // of a tool, for a console that shows some lines of it
	maxShort  = 200      // runes of what is said on one line
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
