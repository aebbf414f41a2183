package agent

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/ralph-loop/ralph/internal/stream"
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
		return asProgress(line)
	}
	d.spoke = true
	items := d.read(d.line)
	for _, item := range items {
		if _, ends := item.(stream.Result); ends {
			d.closed = true
		}
	}
	return items
}

// End is what is missing of the agent's result, if it began at all.
func (d *lineDecoder[L]) End() []stream.Item {
	if d.closed || !d.spoke {
		return nil
	}
	return d.unfinished()
}

// NoResult is the reason of an agent that ended without a word about it.
const NoResult = "ended without a result"

func noResult(used stream.Usage) []stream.Item {
	return []stream.Item{stream.Result{Failed: true, Reason: NoResult, Usage: used}}
}

func asProgress(line []byte) []stream.Item {
	if text := Short(string(line)); text != "" {
		return []stream.Item{stream.Progress{Text: text}}
	}
	return nil
}

// readLine leaves keys of unexpected types empty.
func readLine[T any](line []byte, into *T) bool {
	*into = *new(T)
	if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
		return false
	}
	if err := json.Unmarshal(line, into, lenient); err == nil {
		return true
	}
	*into = *new(T) // on with the other keys costs time that few lines need
	err := json.Unmarshal(line, into, lenient, jsonv1.ReportErrorsWithLegacySemantics(true))
	var mismatch *jsonv1.UnmarshalTypeError
	return err == nil || errors.As(err, &mismatch)
}

// lenient as other programs are that read such lines.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// members calls value for each member of an object, with its key. Another value is skipped.
func members(from *jsontext.Decoder, value func(key []byte) error) error {
	return elements(from, '{', func() error {
		key, err := from.ReadValue()
		if err != nil {
			return err
		}
		if bytes.IndexByte(key, '\\') < 0 {
			return value(key[1 : len(key)-1])
		}
		key, _ = jsontext.AppendUnquote(nil, key)
		return value(key)
	})
}

// elements calls each for the elements of an array, or before the members of an object.
func elements(from *jsontext.Decoder, begin jsontext.Kind, each func() error) error {
	if from.PeekKind() != begin {
		return from.SkipValue()
	}
	_, err := from.ReadToken()
	for err == nil && from.PeekKind() != begin+2 { // [ ] and { }
		err = each()
	}
	if err == nil {
		_, err = from.ReadToken()
	}
	return err
}

// field is a key of an object and what its value is read into.
type field struct {
	key  string
	into any
}

// readFields leaves a field as it is where the value is of another kind. A jsontext.Value
// is a part of what is read.
func readFields(from *jsontext.Decoder, fields ...field) error {
	return members(from, func(key []byte) error {
		for _, f := range fields {
			if f.key == string(key) {
				return f.read(from)
			}
		}
		return from.SkipValue()
	})
}

func (f field) read(from *jsontext.Decoder) error {
	if object, is := f.into.(json.UnmarshalerFrom); is {
		return object.UnmarshalJSONFrom(from)
	}
	value, err := from.ReadValue()
	switch into := f.into.(type) {
	case *jsontext.Value:
		*into = value
	case *bool:
		*into = value.Kind() == 't'
	case *int64:
		if count, wrong := strconv.ParseInt(string(value), 10, 64); wrong == nil {
			*into = count
		}
	case *string:
		if value.Kind() == '"' {
			var page [2 << 10]byte
			plain, _ := jsontext.AppendUnquote(page[:0], value)
			*into = string(plain)
		}
	}
	return err
}
