package putback

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

var errNoObject = errors.New("it is no JSON object")

// keepFields is keep for a file of which only some fields are nobody's inside.
// It may be all of what is written to: its folder is ours then.
func (f Files) keepFields(file string, fields []string) (k kept, err error) {
	if slices.Contains(f.Write, file) {
		if file, err = filepath.EvalSymlinks(file); err == nil {
			k, err = rooted(filepath.Dir(file), filepath.Base(file))
		}
	} else {
		k, err = f.beneath(file)
	}
	if err == nil {
		k, err = k.hold()
	}
	k.fields = fields
	return k, err
}

// mendFields leaves a file as those inside left it but for the fields. One that
// cannot be read for them is put back whole.
func (k kept) mendFields(now map[string]node) ([]string, error) {
	was, had := k.held[k.name]
	is, has := now[k.name]
	if !had {
		was.text = []byte("{}")
	}
	if has && is.mode.IsRegular() && was.mode.IsRegular() {
		text, err := settle(was.text, is.text, k.fields)
		switch {
		case err == nil && text == nil:
			return nil, nil
		case err == nil:
			return []string{path.Join(k.dir, k.name)}, k.root.WriteFile(k.name, text, is.mode.Perm())
		}
	}
	return k.mendWhole(now)
}

// settle is the JSON object is with fields as was has them; nil where they are
// the same.
func settle(was, is []byte, fields []string) ([]byte, error) {
	before, err := object(was)
	if err != nil {
		return nil, err
	}
	after, err := object(is)
	if err != nil {
		return nil, err
	}
	changed := false
	for _, field := range fields {
		changed = settleAt(before, after, strings.Split(field, ".")) || changed
	}
	if !changed {
		return nil, nil
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(after)
	return text.Bytes(), err
}

// object reads a file of settings: some begin with lines of comment.
func object(text []byte) (fields map[string]any, err error) {
	for bytes.HasPrefix(text, []byte("//")) {
		end := bytes.IndexAny(text, "\r\n")
		if end < 0 {
			return nil, errNoObject
		}
		text = bytes.TrimSpace(text[end:])
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil {
		return nil, err
	}
	_, err = d.Token()
	if fields == nil || err == nil {
		return nil, errNoObject
	}
	return fields, nil
}

// settleAt makes one field of is what it was, and tells whether it was another.
// On the way down to it * is any name.
func settleAt(was, is map[string]any, way []string) (changed bool) {
	if way[0] != "*" {
		return settleField(was, is, way)
	}
	for name := range is {
		changed = settleField(was, is, append([]string{name}, way[1:]...)) || changed
	}
	for name := range was {
		if _, there := is[name]; !there {
			changed = settleField(was, is, append([]string{name}, way[1:]...)) || changed
		}
	}
	return changed
}

func settleField(was, is map[string]any, way []string) bool {
	name := way[0]
	if len(way) > 1 {
		before, _ := was[name].(map[string]any)
		after, _ := is[name].(map[string]any)
		if after == nil {
			after = map[string]any{}
		}
		changed := settleAt(before, after, way[1:])
		if changed {
			is[name] = after
		}
		return changed
	}
	before, there := was[name]
	if none(before) && none(is[name]) || reflect.DeepEqual(before, is[name]) {
		return false
	}
	if is[name] = before; !there {
		delete(is, name)
	}
	return true
}

// none is what a field says that says nothing; programs write such of themselves.
func none(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case bool:
		return !value
	case string:
		return value == ""
	case []any:
		return len(value) == 0
	case map[string]any:
		return len(value) == 0
	}
	return false
}
