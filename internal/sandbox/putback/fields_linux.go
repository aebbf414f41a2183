package putback

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

var errNoObject = errors.New("it is no JSON object")

func (f Files) keepFields(file string, fields []string, others records, left *budget) (k keptPath, err error) {
	if slices.Contains(f.Write, file) {
		if file, err = filepath.EvalSymlinks(file); err == nil {
			k, err = f.outermost(filepath.Dir(file), filepath.Base(file))
		}
	} else {
		k, err = f.inWriteFolder(file)
	}
	if err == nil {
		k, err = k.withContent(others, left)
	}
	k.fields = fields
	return k, err
}

// mendFields restores all but the fields. A broken file is restored whole.
func (k keptPath) mendFields(now map[string]savedNode) ([]string, error) {
	was, had := k.content[k.name]
	is, has := now[k.name]
	if !had {
		was.Text = []byte("{}")
	}
	if has && is.Mode.IsRegular() && was.Mode.IsRegular() {
		text, err := withFields(was.Text, is.Text, k.fields)
		switch {
		case err == nil && text == nil && is.Names <= was.Names:
			return nil, nil
		case err == nil:
			if text == nil {
				text = is.Text
			}
			if err = k.write(k.name, text, is.Mode.Perm()); err != nil { // as it is, it may not stay
				err = errors.Join(k.root.Remove(k.name), k.write(k.name, text, is.Mode.Perm()))
			}
			return []string{path.Join(k.dir, k.name)}, err
		}
	}
	return k.mendWhole(now)
}

// withFields returns was with the fields of is; nil if there is no other difference.
func withFields(was, is []byte, fields []string) ([]byte, error) {
	before, err := object(was)
	if err != nil {
		return nil, err
	}
	after, err := object(is)
	if err != nil {
		return nil, err
	}
	for _, field := range fields {
		copyFields(after, before, strings.Split(field, "."))
	}
	if equalValues(before, after) {
		return nil, nil
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(before)
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
	if _, err = d.Token(); fields == nil || !errors.Is(err, io.EOF) {
		return nil, errNoObject
	}
	return fields, nil
}

// copyFields copies the fields from from to to. Names on the way may be patterns.
func copyFields(from, to map[string]any, way []string) {
	for _, name := range slices.Concat(slices.Collect(maps.Keys(from)), slices.Collect(maps.Keys(to))) {
		value, there := from[name]
		switch {
		case !matches(way[0], name):
		case len(way) > 1:
			below, _ := value.(map[string]any)
			inner, is := to[name].(map[string]any)
			if !is {
				inner = map[string]any{}
			}
			if copyFields(below, inner, way[1:]); is || len(inner) > 0 {
				to[name] = inner
			}
		case there:
			to[name] = value
		default:
			delete(to, name)
		}
	}
}

func matches(pattern, name string) bool {
	fits, _ := filepath.Match(pattern, strings.ReplaceAll(name, "/", "-")) // the patterns are well formed
	return fits
}

// equalValues ignores empty values that a program adds by itself.
func equalValues(was, is any) bool {
	before, object := was.(map[string]any)
	after, still := is.(map[string]any)
	if !object || !still {
		return reflect.DeepEqual(was, is)
	}
	for name, value := range before {
		now, there := after[name]
		if !there || !equalValues(value, now) {
			return false
		}
	}
	for name, value := range after {
		if _, there := before[name]; !there && !isEmpty(value) {
			return false
		}
	}
	return true
}

func isEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case []any:
		return len(value) == 0
	case map[string]any:
		return !slices.ContainsFunc(slices.Collect(maps.Values(value)), func(below any) bool { return !isEmpty(below) })
	}
	return false
}
