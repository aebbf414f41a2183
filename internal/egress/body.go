package egress

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
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

type object struct {
	tree   map[string]any
	fields []field // on top, in their order
}

type field struct {
	name string
	text []byte // "name":value
}

// readObject reads a body as a tree. Of a field that stands twice, one server
// takes the first and another the last: there is none here, so that what is
// judged is what is understood.
func readObject(body []byte) (object, error) {
	r := reader{Decoder: json.NewDecoder(bytes.NewReader(body)), body: body}
	r.UseNumber()
	value, err := r.value(0)
	if err != nil {
		return object{}, err
	}
	tree, is := value.(map[string]any)
	if _, err := r.Token(); !is || !errors.Is(err, io.EOF) {
		return object{}, errJSON
	}
	return object{tree, r.fields}, nil
}

// with returns the body with the fields of add and without those of drop; nil: it may stay as it is.
func (o object) with(add map[string]string, drop map[string]bool) []byte {
	if len(add)+len(drop) == 0 {
		return nil
	}
	var texts [][]byte
	for _, name := range slices.Sorted(maps.Keys(add)) {
		texts = append(texts, fmt.Appendf(nil, "%q:%s", name, add[name]))
	}
	for _, f := range o.fields {
		if _, replaced := add[f.name]; !replaced && !drop[f.name] {
			texts = append(texts, f.text)
		}
	}
	return slices.Concat([]byte("{"), bytes.Join(texts, []byte(",")), []byte("}"))
}

type reader struct {
	*json.Decoder
	body   []byte
	values int
	fields []field
}

func (r *reader) value(depth int) (any, error) {
	if depth > deepest {
		return nil, errDeep
	}
	if r.values++; r.values > mostValues {
		return nil, errMany
	}
	token, err := r.Token()
	if err != nil {
		return nil, errJSON
	}
	switch token {
	case json.Delim('{'):
		return r.object(depth)
	case json.Delim('['):
		return r.items(depth)
	default:
		return token, nil
	}
}

func (r *reader) object(depth int) (map[string]any, error) {
	fields := map[string]any{}
	for r.More() {
		from := r.InputOffset()
		token, err := r.Token()
		name, is := token.(string)
		if err != nil || !is {
			return nil, errJSON
		}
		if _, twice := fields[name]; twice {
			return nil, errTwice
		}
		if fields[name], err = r.value(depth + 1); err != nil {
			return nil, err
		}
		if depth == 0 {
			r.fields = append(r.fields, field{name, bytes.TrimLeft(r.body[from:r.InputOffset()], ", \t\r\n")})
		}
	}
	return fields, r.closing()
}

func (r *reader) items(depth int) ([]any, error) {
	items := []any{}
	for r.More() {
		item, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, r.closing()
}

func (r *reader) closing() error {
	if _, err := r.Token(); err != nil {
		return errJSON
	}
	return nil
}
