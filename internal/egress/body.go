package egress

import (
	"bytes"
	jsonv1 "encoding/json"
	"errors"
	"io"
	"maps"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth and maxValues limit the nesting and the number of values of a body: a
// value needs up to 200 times its bytes in memory. Real bodies have a dozen levels,
// and about 5,000 values per megabyte.
const (
	maxDepth        = 200
	maxValues       = 200_000
	maxAnswerValues = 50_000 // of an answer's event: they are read side by side
)

var (
	errJSON  = errors.New("its body is not a JSON object")
	errTwice = errors.New("its body has a duplicate field")
	errDeep  = errors.New("its body is nested too deeply")
	errMany  = errors.New("its body has too many values")
)

// rawStrings keeps incomplete characters, which clients send when they cut a text.
var rawStrings = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true))

// rawNumbers keeps the spelling of numbers: servers read 1e3 differently.
var rawNumbers = json.WithUnmarshalers(json.UnmarshalFromFunc(func(from *jsontext.Decoder, to *any) error {
	if from.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	token, err := from.ReadToken()
	*to = jsonv1.Number(token.String())
	return err
}))

// readObject reads a body as a tree. It refuses duplicate fields: servers differ
// in which of them they use.
func readObject(body []byte) (tree map[string]any, err error) {
	if err := checkSize(body, maxValues); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body, &tree, rawStrings, rawNumbers); err != nil || tree == nil {
		return nil, errJSON
	}
	return tree, nil
}

func checkSize(body []byte, most int, more ...jsontext.Options) error {
	from := jsontext.NewDecoder(bytes.NewBuffer(body), append(more, rawStrings)...) // which it does not copy
	for values := 0; ; {
		token, err := from.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, jsontext.ErrDuplicateName):
			return errTwice
		case err != nil:
			return errJSON
		case from.StackDepth() > maxDepth:
			return errDeep
		}
		in, length := from.StackIndex(from.StackDepth())
		isName, ends := in == '{' && length%2 == 1, token.Kind() == '}' || token.Kind() == ']'
		if !isName && !ends {
			values++
		}
		if values > most {
			return errMany
		}
	}
}

// editBody returns a body with the fields of add and without those of drop, or nil if there are neither.
func editBody(body []byte, add map[string]string, drop map[string]bool) ([]byte, error) {
	if len(add)+len(drop) == 0 {
		return nil, nil
	}
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(body, &fields, rawStrings); err != nil {
		return nil, errJSON
	}
	maps.DeleteFunc(fields, func(name string, _ jsontext.Value) bool { return drop[name] })
	for name, value := range add {
		fields[name] = jsontext.Value(value)
	}
	return json.Marshal(fields, json.Deterministic(true), rawStrings)
}

func text(v any) string { s, _ := v.(string); return s }

func isObject(value any) bool { _, is := value.(map[string]any); return is }

func isEmpty(value any) bool {
	list, is := value.([]any)
	return is && len(list) == 0
}

// checkSpelling refuses another spelling of a judged field: some servers accept it.
func checkSpelling(name string, judged []string) *Refusal {
	for _, known := range judged {
		if name != known && strings.EqualFold(name, known) {
			return &Refusal{What: "field " + quoted(name), Why: "some servers read it as " + known}
		}
	}
	return nil
}

// sizeOf returns the size of a value as JSON, without escapes.
func sizeOf(value any) (size int64) {
	const marks = 6 // around a name or value, or the length of false
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			size += sizeOf(item)
		}
	case map[string]any:
		for name, inner := range value {
			size += int64(len(name)) + marks + sizeOf(inner)
		}
	case string:
		size = int64(len(value))
	case jsonv1.Number:
		size = int64(len(value))
	}
	return size + marks
}
