package checkdef

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// packed is a package.json, by its keys.
type packed map[string]json.RawMessage

func unpack(text []byte) (packed, bool) {
	var p packed
	return p, json.Unmarshal(text, &p) == nil && p != nil
}

func (p packed) inner(key string) map[string]json.RawMessage {
	var inner map[string]json.RawMessage
	if json.Unmarshal(p[key], &inner) != nil {
		return nil
	}
	return inner
}

// own are the commands of package managers that are no scripts.
var own = words("install ci add remove exec dlx x i create init link pack publish update audit outdated why set config cache info view login")

// node follows a script of package.json with those that run before and after it.
func (t *trail) node(args []string, in errand) {
	args = slices.DeleteFunc(slices.Clone(args), func(word string) bool { return strings.HasPrefix(word, "-") })
	if len(args) > 1 && (args[0] == "run" || args[0] == "run-script") {
		args = args[1:]
	}
	if len(args) == 0 || own[args[0]] {
		return
	}
	name := args[0]
	if name == "t" || name == "tst" {
		name = "test"
	}
	file := path.Join(in.dir, "package.json")
	pack, is := unpack(t.base(file))
	if !is {
		return
	}
	for name := range pack.inner("imports") { // by which tests are given another file than they name
		t.some(file, members, "imports."+name)
	}
	for _, script := range []string{"pre" + name, name, "post" + name} {
		t.some(file, members, "scripts."+script)
		var text string
		if json.Unmarshal(pack.inner("scripts")[script], &text) == nil {
			t.add(errand{text, in.dir, in.ready})
		}
	}
}

// holdMembers is a package.json with some members as they were; nil: one cannot be read.
func holdMembers(was, now []byte, parts []string) []byte {
	old, read := unpack(was)
	young, still := unpack(now)
	if !read || !still {
		return nil
	}
	changed := false
	for _, part := range parts {
		if outer, key, is := strings.Cut(part, "."); is {
			inner := young.inner(outer)
			if put(&inner, old.inner(outer), key) {
				changed = true
				young[outer], _ = json.Marshal(inner) //nolint:errchkjson // was read from JSON
			}
			continue
		}
		all := map[string]json.RawMessage(young)
		changed = put(&all, old, part) || changed
	}
	if !changed {
		return now
	}
	text, err := json.MarshalIndent(young, "", "  ")
	if err != nil {
		return nil
	}
	return append(text, '\n')
}

// put gives an object a member as another one has it, and tells whether that is a change.
func put(to *map[string]json.RawMessage, from map[string]json.RawMessage, key string) bool {
	was, had := from[key]
	now, has := (*to)[key]
	switch {
	case had == has && (!had || same(was, now)):
		return false
	case !had:
		delete(*to, key)
		return true
	case *to == nil:
		*to = map[string]json.RawMessage{}
	}
	(*to)[key] = was
	return true
}

func same(a, b json.RawMessage) bool {
	var one, two bytes.Buffer
	return json.Compact(&one, a) == nil && json.Compact(&two, b) == nil && bytes.Equal(one.Bytes(), two.Bytes())
}
