package egress

import (
	"bytes"
	jsonv1 "encoding/json"
	"errors"
	"io"
	"maps"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// deepest is how far a body may be nested, and mostValues how many values it may
// have, regardless of their size: a value takes up to 200 times its bytes in memory.
// Real bodies have a dozen levels, and some 5,000 values a megabyte.
const (
	deepest    = 200
	mostValues = 200_000
)

var (
	errJSON  = errors.New("its body is not a JSON object")
	errTwice = errors.New("a field stands twice in its body")
	errDeep  = errors.New("its body is nested too deeply")
	errMany  = errors.New("there are too many values in its body")
)

// asWritten keeps halves of characters, which clients send where they cut a text.
var asWritten = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true))

// numbers has them as they are written: servers differ in what they take 1e3 for.
var numbers = json.WithUnmarshalers(json.UnmarshalFromFunc(func(from *jsontext.Decoder, to *any) error {
	if from.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	token, err := from.ReadToken()
	*to = jsonv1.Number(token.String())
	return err
}))

// readObject reads a body as a tree. Of a field that stands twice, one server
// takes the first and another the last: there is none here, so that what is
// judged is what is understood.
func readObject(body []byte) (tree map[string]any, err error) {
	if err := checkSize(body); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body, &tree, asWritten, numbers); err != nil || tree == nil {
		return nil, errJSON
	}
	return tree, nil
}

func checkSize(body []byte) error {
	from := jsontext.NewDecoder(bytes.NewReader(body), asWritten)
	for values := 0; ; {
		token, err := from.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, jsontext.ErrDuplicateName):
			return errTwice
		case err != nil:
			return errJSON
		case from.StackDepth() > deepest:
			return errDeep
		}
		in, length := from.StackIndex(from.StackDepth())
		isName, ends := in == '{' && length%2 == 1, token.Kind() == '}' || token.Kind() == ']'
		if !isName && !ends {
			values++
		}
		if values > mostValues {
			return errMany
		}
	}
}

// with returns a body with the fields of add and without those of drop; nil: it may stay as it is.
func with(body []byte, add map[string]string, drop map[string]bool) ([]byte, error) {
	if len(add)+len(drop) == 0 {
		return nil, nil
	}
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(body, &fields, asWritten); err != nil {
		return nil, errJSON
	}
	maps.DeleteFunc(fields, func(name string, _ jsontext.Value) bool { return drop[name] })
	for name, value := range add {
		fields[name] = jsontext.Value(value)
	}
	return json.Marshal(fields, json.Deterministic(true), asWritten)
}
