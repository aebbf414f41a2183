package tamper

import (
	"fmt"
	"maps"
	"slices"

	"github.com/BurntSushi/toml"
)

// flatTOML has no lines: they are looked for when they are shown.
func flatTOML(data []byte) (all []setting) {
	defer func() { // others' code, fed with anything
		if recover() != nil {
			all = nil
		}
	}()
	var tree map[string]any
	if _, err := toml.Decode(string(data), &tree); err != nil {
		return nil
	}
	walkAny(tree, "", &all, 0)
	return all
}

func walkAny(v any, key string, all *[]setting, depth int) {
	if depth > 100 || len(*all) > maxKeys {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			walkAny(v[k], joinKey(key, k), all, depth+1)
		}
	case []any:
		for _, e := range v {
			walkAny(e, key+"[]", all, depth+1)
		}
	case []map[string]any:
		for i, e := range v {
			walkAny(e, key+"["+identityTOML(e, i)+"]", all, depth+1)
		}
	default:
		*all = append(*all, setting{key, fmt.Sprint(v), 0})
	}
}

func identityTOML(table map[string]any, i int) string {
	for _, known := range []string{"module", "name", "path"} {
		if text, is := table[known]; is {
			return short(fmt.Sprint(text), 60)
		}
	}
	return fmt.Sprint(i)
}
