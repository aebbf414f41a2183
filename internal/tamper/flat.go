package tamper

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// flatYAML walks the tree as it is written: an alias stands for its name, so a
// small file stays small.
func flatYAML(data []byte) (all []setting) {
	defer func() { // others' code, fed with anything
		if recover() != nil {
			all = nil
		}
	}()
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil
	}
	for _, doc := range file.Docs {
		walkYAML(doc.Body, "", &all, 0)
	}
	return all
}

func walkYAML(n ast.Node, key string, all *[]setting, depth int) {
	if n == nil || depth > 100 || len(*all) > maxKeys {
		return
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, v := range n.Values {
			walkYAML(v, key, all, depth+1)
		}
	case *ast.MappingValueNode:
		walkYAML(n.Value, joinKey(key, plainYAML(n.Key)), all, depth+1)
	case *ast.SequenceNode:
		for i, v := range n.Values {
			walkYAML(v, key+"["+identityYAML(v, i)+"]", all, depth+1)
		}
	case *ast.AnchorNode:
		walkYAML(n.Value, key, all, depth+1)
	case *ast.TagNode:
		walkYAML(n.Value, key, all, depth+1)
	default:
		*all = append(*all, setting{key, plainYAML(n), n.GetToken().Position.Line})
	}
}

func plainYAML(n ast.Node) string {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.AliasNode:
		return "*"
	default:
		return strings.Trim(n.GetToken().Value, `"'`)
	}
}

// identityYAML is what tells an element of a list from the others: nothing
// for a plain value, whose order says little.
func identityYAML(n ast.Node, i int) string {
	var pairs []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	default:
		return ""
	}
	for _, wanted := range []string{"name", "id", "uses", "repo", "path", "run", "linters", "task"} {
		for _, p := range pairs {
			if plainYAML(p.Key) == wanted {
				if text, _, _ := strings.Cut(plainYAML(p.Value), "@"); text != "" {
					return short(text, 60)
				}
			}
		}
	}
	return fmt.Sprint(i)
}

func joinKey(key, part string) string {
	if key == "" {
		return part
	}
	return key + "." + part
}

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

// flatINI reads sections, keys and values that go on over indented lines. A
// value of several parts is a list.
func flatINI(text string) []setting {
	var all []setting
	section, key := "", ""
	n := 0
	for line := range strings.Lines(text) {
		n++
		bare := strings.TrimSpace(line)
		indented := line != "" && (line[0] == ' ' || line[0] == '\t')
		switch {
		case bare == "" || bare[0] == '#' || bare[0] == ';':
		case bare[0] == '[' && strings.HasSuffix(bare, "]"):
			section, key = sectionOf(bare[1:len(bare)-1]), ""
		case indented && key != "":
			all = append(all, parted(key, bare, n)...)
		default:
			name, value, _ := strings.Cut(bare, "=")
			if before, after, colon := strings.Cut(bare, ":"); colon && len(before) < len(name) {
				name, value = before, after
			}
			key = joinKey(section, strings.TrimSpace(name))
			all = append(all, parted(key, strings.TrimSpace(value), n)...)
		}
	}
	return all
}

// sectionOf gives "tool:pytest" and "coverage:report" the names they have in
// pyproject.toml.
func sectionOf(text string) string {
	text = strings.ReplaceAll(strings.TrimSpace(text), ":", ".")
	switch text {
	case "pytest", "tool.pytest":
		return "tool.pytest.ini_options"
	case "run", "report":
		return "tool.coverage." + text
	}
	return text
}

// parted makes elements of a value with commas; a command or a text stays
// whole.
func parted(key, value string, line int) []setting {
	if value == "" {
		return nil
	}
	last := key[strings.LastIndex(key, ".")+1:]
	if strings.Contains(last, "commands") || strings.Contains(last, "addopts") || strings.HasPrefix(last, "deps") {
		return []setting{{key, value, line}}
	}
	fields := strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' && many(last) })
	if len(fields) < 2 && !many(last) {
		return []setting{{key, value, line}}
	}
	var all []setting
	for _, f := range fields {
		if f = strings.TrimSpace(f); f != "" {
			all = append(all, setting{key + "[]", f, line})
		}
	}
	return all
}

func many(key string) bool {
	for _, part := range []string{"ignore", "select", "exclude", "omit", "disable", "testpaths", "norecursedirs", "python_files", "filterwarnings"} {
		if strings.Contains(key, part) && key != "ignore_errors" && key != "ignore_missing_imports" {
			return true
		}
	}
	return false
}

// flatObject reads the object literals of JSON, with remarks or without, and
// of settings that are written as a program.
func flatObject(src string) []setting {
	words, _ := scriptWords(src)
	o := &object{words: words, match: brackets(words)}
	o.value(0, len(words), "", 0)
	return o.all
}

type object struct {
	words []word
	match []int
	all   []setting
}

// value reads what stands between two words; each object in it adds its keys.
func (o *object) value(from, to int, key string, depth int) {
	if depth > 100 || from >= to || len(o.all) > maxKeys {
		return
	}
	switch first := o.words[from]; {
	case first.is("{") && first.kind == sign && o.match[from] == to-1:
		o.members(from+1, to-1, key, depth)
	case first.is("[") && first.kind == sign && o.match[from] == to-1:
		o.elements(from+1, to-1, key, depth)
	case to-from == 1 || to-from == 2 && first.is("-"):
		o.all = append(o.all, setting{key, words(o.words[from:to]), first.line})
	default:
		o.inner(from, to, key, depth)
	}
}

func words(list []word) string {
	var b strings.Builder
	for _, w := range list {
		b.WriteString(w.text)
	}
	return b.String()
}

// inner looks for objects and lists in an expression or a program. What is
// named or called in a list is a value too.
func (o *object) inner(from, to int, key string, depth int) {
	named := true
	for i := from; i < to; i++ {
		w := o.words[i]
		if w.kind == sign && w.is("{", "[", "(") && o.match[i] > 0 && o.match[i] < to {
			named = false
			if w.is("(") {
				o.elements(i+1, o.match[i], key, depth+1)
			} else {
				o.value(i, o.match[i]+1, key, depth+1)
			}
			i = o.match[i]
		}
	}
	if named && to-from < 20 && strings.HasSuffix(key, "]") {
		o.all = append(o.all, setting{key, strings.TrimPrefix(words(o.words[from:to]), "..."), o.words[from].line})
	}
}

func (o *object) parts(from, to int) [][2]int {
	var parts [][2]int
	begin := from
	for i := from; i < to; i++ {
		if o.words[i].kind == sign && o.match[i] > i {
			i = o.match[i]
			continue
		}
		if o.words[i].is(",") {
			parts = append(parts, [2]int{begin, i})
			begin = i + 1
		}
	}
	return append(parts, [2]int{begin, to})
}

func (o *object) members(from, to int, key string, depth int) {
	for _, p := range o.parts(from, to) {
		switch {
		case p[1]-p[0] >= 3 && o.words[p[0]+1].is(":"):
			o.value(p[0]+2, p[1], joinKey(key, o.words[p[0]].text), depth+1)
		case p[0] < p[1]:
			o.inner(p[0], p[1], key, depth+1)
		}
	}
}

func (o *object) elements(from, to int, key string, depth int) {
	for _, p := range o.parts(from, to) {
		if p[0] >= p[1] {
			continue
		}
		if o.words[p[0]].is("{") {
			o.value(p[0], p[1], key, depth+1)
		} else {
			o.value(p[0], p[1], key+"[]", depth+1)
		}
	}
}
