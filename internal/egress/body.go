package egress

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// deepest is how far a body may be nested; real ones have a dozen levels.
const deepest = 200

var (
	errJSON  = errors.New("its body is not a JSON object")
	errTwice = errors.New("a field stands twice in its body")
	errDeep  = errors.New("its body is nested too deeply")
)

// readObject reads a body as a tree. Of a field that stands twice, one server
// takes the first and another the last: there is none here, so that what is
// judged is what is understood.
func readObject(body []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	value, err := readValue(d, 0)
	if err != nil {
		return nil, err
	}
	tree, is := value.(map[string]any)
	if _, err := d.Token(); !is || !errors.Is(err, io.EOF) {
		return nil, errJSON
	}
	return tree, nil
}

func readValue(d *json.Decoder, depth int) (any, error) {
	if depth > deepest {
		return nil, errDeep
	}
	token, err := d.Token()
	if err != nil {
		return nil, errJSON
	}
	switch token {
	case json.Delim('{'):
		return readFields(d, depth)
	case json.Delim('['):
		return readItems(d, depth)
	default:
		return token, nil
	}
}

func readFields(d *json.Decoder, depth int) (map[string]any, error) {
	fields := map[string]any{}
	for d.More() {
		token, err := d.Token()
		name, is := token.(string)
		if err != nil || !is {
			return nil, errJSON
		}
		if _, twice := fields[name]; twice {
			return nil, errTwice
		}
		if fields[name], err = readValue(d, depth+1); err != nil {
			return nil, err
		}
	}
	return fields, closing(d)
}

func readItems(d *json.Decoder, depth int) ([]any, error) {
	items := []any{}
	for d.More() {
		item, err := readValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, closing(d)
}

// closing takes the bracket at the end.
func closing(d *json.Decoder) error {
	if _, err := d.Token(); err != nil {
		return errJSON
	}
	return nil
}
