package checkdef

import (
	"bytes"
	"encoding/json"
	"go/version"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/ralph-loop/ralph/internal/makefile"
	"github.com/ralph-loop/ralph/internal/pattern"
)

// Some files define checks and also name the product's dependencies. No reader knows every
// part that affects the checks. So a proof uses the base's file, and takes from the new one
// only known parts that the product needs.

// partsDiffer reports whether a part that the checks certainly run has changed.
func (g definition) partsDiffer(name string, was, is []byte) bool {
	switch file := path.Base(name); {
	case file == "package.json":
		return membersDiffer(was, is, g.parts, jsonTree)
	case path.Ext(file) == ".toml":
		return membersDiffer(was, is, g.parts, tomlTree)
	case path.Ext(file) == ".cfg", path.Ext(file) == ".ini", file == ".npmrc":
		return sectionsDiffer(was, is, g.parts)
	}
	return targetsDiffer(was, is, g.parts)
}

// asBase returns the base's file with the parts of the new one that are kept. If same, nothing else changed.
func (g definition) asBase(name string, was, is []byte, base Files) (text []byte, same bool) {
	switch file := path.Base(name); {
	case file == "package.json":
		return keepTree(was, is, slices.Concat(g.newScripts(was, is), workspaces(was, is), neededMembers), jsonTree)
	case file == "pyproject.toml":
		return keepTree(was, is, neededTables, tomlTree)
	case file == "Cargo.toml":
		return keepTree(was, is, neededCrate, tomlTree)
	case file == "go.mod", file == "go.work":
		return keepRequired(was, is)
	case path.Ext(file) == ".toml", file == "config": // .cargo/config is the old name
		return keepTree(was, is, neededByCargo, tomlTree)
	case path.Ext(file) == ".cfg" || path.Ext(file) == ".ini":
		return keepSections(was, is)
	case file == ".npmrc":
		kept := linesOf(is, installs.MatchString)
		other := func(line string) bool { return !installs.MatchString(line) }
		return bytes.Join([][]byte{linesOf(was, other), kept}, nil), bytes.Equal(linesOf(was, other), linesOf(is, other))
	}
	return growth{name, makefile.Rules(was), makefile.Rules(is), g.parts, base}.keep()
}

var (
	plainScript = pattern.Of(`^[A-Za-z][\w-]*$`)
	// hookScript matches scripts that package managers run by themselves, or instead of server.js.
	hookScript = pattern.Of(`^(pre|post)|^(install|dependencies|start)$`)
)

// newScripts returns the members of added scripts that the base's scripts cannot run. It looks for
// at most maxScripts names in the base's file.
func (g definition) newScripts(was, is []byte) (members []string) {
	old, _ := readPackageJSON(was)
	young, _ := readPackageJSON(is)
	names := slices.Sorted(maps.Keys(young.object("scripts")))
	for _, name := range names[:min(len(names), maxScripts)] {
		member := "scripts." + name
		own := plainScript.MatchString(name) && !hookScript.MatchString(name) && !mentions(string(was), name)
		if own && !slices.Contains(g.parts, member) && !bytes.Contains(old["scripts"], []byte("*")) { // some run scripts by a pattern
			members = append(members, member)
		}
	}
	return members
}

// The members that a product needs to be installed and found, as the formats name them.
// A "-" excludes a member from a table that is kept.
var (
	neededMembers = strings.Fields(`name version type main module exports types typings bin browser files engines os cpu packageManager
dependencies devDependencies peerDependencies peerDependenciesMeta optionalDependencies bundleDependencies bundledDependencies overrides resolutions`)
	neededTables = strings.Fields(`project -project.entry-points.pytest11 build-system dependency-groups tool.setuptools -tool.setuptools.dynamic.entry-points tool.setuptools_scm tool.hatch.build tool.hatch.version tool.hatch.metadata
tool.flit -tool.flit.entrypoints tool.maturin tool.uv tool.pdm.dev-dependencies tool.pdm.build tool.pdm.version
tool.poetry.name tool.poetry.version tool.poetry.packages tool.poetry.include tool.poetry.dependencies tool.poetry.dev-dependencies tool.poetry.group tool.poetry.extras tool.poetry.scripts`)
	neededByCargo = strings.Fields("source registry registries net http")
	neededCrate   = strings.Fields("package -package.autotests -package.edition dependencies dev-dependencies build-dependencies target features workspace -workspace.default-members -workspace.exclude bin example")
	// installs matches the lines that say where npm gets packages and how it installs them.
	installs = pattern.Of(`^\s*((@[\w.-]+:)?registry\s*=\s*https?://[\w./:@-]*|//[\w./:-]+:_authToken\s*=\s*\$\{\w+\}|(legacy-peer-deps|strict-peer-dependencies|auto-install-peers|shamefully-hoist|node-linker)\s*=\s*[a-z]+)\s*$`)
)

// treeFormat reads and writes a format of nested tables.
type treeFormat struct {
	read  func([]byte) (map[string]any, bool)
	write func(any) ([]byte, error)
}

var (
	jsonTree = treeFormat{readMembers, json.Marshal}
	tomlTree = treeFormat{readTables, toml.Marshal}
)

// readMembers keeps the values of a package.json as they are written, because the order of "exports"
// counts. Only members that the checks use in parts are read further.
func readMembers(text []byte) (map[string]any, bool) {
	pack, readable := readPackageJSON(text)
	all := raw(pack)
	for _, key := range []string{"scripts", "imports"} {
		if entries := pack.object(key); entries != nil {
			all[key] = raw(entries)
		}
	}
	return all, readable
}

func raw(members map[string]json.RawMessage) map[string]any {
	all := map[string]any{}
	for key, value := range members {
		text, _ := json.Marshal(value)   //nolint:errchkjson // was read from JSON
		all[key] = json.RawMessage(text) // without blanks
	}
	return all
}

// tables reads a text. A missing file has no tables.
func (f treeFormat) tables(text []byte) (map[string]any, bool) {
	if text == nil {
		return map[string]any{}, true
	}
	return f.read(text)
}

// membersDiffer reports whether members differ, or a file cannot be read.
func membersDiffer(was, is []byte, members []string, format treeFormat) bool {
	old, read := format.tables(was)
	young, still := format.tables(is)
	return !read || !still || slices.ContainsFunc(members, func(name string) bool {
		return !reflect.DeepEqual(memberOf(old, name), memberOf(young, name))
	})
}

// memberOf returns the value at a name or a dotted path, or nil.
func memberOf(tables map[string]any, name string) any {
	if value, has := tables[name]; has {
		return value
	}
	outer, rest, _ := strings.Cut(name, ".")
	inner, _ := tables[outer].(map[string]any)
	if inner == nil {
		return nil
	}
	return memberOf(inner, rest)
}

// keepTree returns the base's tables with some members of the new ones, or the base's text if either cannot be read.
func keepTree(was, is []byte, kept []string, format treeFormat) (text []byte, same bool) {
	trees := [4]map[string]any{} // each of its own: tables are shared when they are kept
	for i, text := range [][]byte{was, was, is, is} {
		var readable bool
		if trees[i], readable = format.tables(text); !readable {
			return was, false
		}
	}
	trial, before, now, after := trees[0], trees[1], trees[2], trees[3]
	for _, key := range kept {
		if key, not := strings.CutPrefix(key, "-"); not {
			setMember(trial, before, strings.Split(key, "."))
		} else {
			setMember(trial, now, strings.Split(key, "."))
		}
	}
	if reflect.DeepEqual(trial, after) {
		return is, true
	}
	if reflect.DeepEqual(trial, before) {
		return was, false
	}
	if text, err := format.write(trial); err == nil && len(trial) > 0 {
		return text, false
	}
	return was, false
}

// setMember copies a member of one table to another.
func setMember(to, from map[string]any, keys []string) {
	value, has := from[keys[0]]
	if len(keys) == 1 {
		if delete(to, keys[0]); has {
			to[keys[0]] = value
		}
		return
	}
	inner, _ := value.(map[string]any)
	table, is := to[keys[0]].(map[string]any)
	if !is {
		if _, there := to[keys[0]]; there || inner == nil {
			return
		}
		table = map[string]any{}
	}
	if setMember(table, inner, keys[1:]); len(table) > 0 {
		to[keys[0]] = table
	}
}

// needed matches the heads of sections of setup.cfg that describe the product.
var needed = pattern.Of(`^\[(metadata|options(\.(extras_require|packages\.find|package_data|entry_points))?)\]\s*$`)

// plugins matches what may add plugins to pytest, also from another file.
var plugins = pattern.Of(`(?im)pytest11|^\s*entry[_-]points`)

// keepSections returns the base's file with the needed sections of the new one.
func keepSections(was, is []byte) (text []byte, same bool) {
	split := func(text []byte) (top, kept, other string) {
		for n, s := range sectionsOf(text) {
			all := strings.Join(s.lines, "")
			if all != "" && !strings.HasSuffix(all, "\n") {
				all += "\n"
			}
			switch {
			case n == 0:
				top = all
			case needed.MatchString(strings.TrimRight(s.lines[0], "\r\n")) && !plugins.MatchString(all):
				kept += all
			default:
				other += all
			}
		}
		return top, kept, other
	}
	top, _, other := split(was)
	newTop, kept, newOther := split(is)
	if was == nil && kept == "" {
		return nil, false
	}
	return []byte(top + kept + other), top == newTop && other == newOther
}

// keepRequired returns the base's go.mod with the name and the requirements of the new one, and
// with its version of Go, if that is not lower: a lower one changes what loops in tests mean.
func keepRequired(was, is []byte) (text []byte, same bool) {
	_, other, before := splitModule(was)
	kept, newOther, now := splitModule(is)
	if version.Compare(now, before) >= 0 {
		before = now
	}
	text = []byte(kept + other)
	if before != "" {
		text = append(text, strings.Replace(before, "go", "go ", 1)+"\n"...)
	}
	return text, other == newOther && before == now
}

// splitModule splits a go.mod into what the product needs, other lines, and the version of Go.
func splitModule(text []byte) (kept, other, goVersion string) {
	block := ""
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.HasPrefix(words[0], "//"):
		case words[0] == ")":
			block = ""
		case strings.HasSuffix(words[len(words)-1], "("):
			block = strings.TrimSuffix(words[0], "(")
		case block == "" && words[0] == "go" && len(words) > 1:
			goVersion = "go" + words[1]
		default:
			if block != "" {
				words = append([]string{block}, words...)
			}
			if line = strings.Join(words, " ") + "\n"; words[0] == "module" || words[0] == "require" || words[0] == "toolchain" {
				kept += line
			} else {
				other += line
			}
		}
	}
	return kept, other, goVersion
}

func linesOf(text []byte, of func(string) bool) []byte {
	var all strings.Builder
	for line := range strings.Lines(string(text)) {
		if of(strings.TrimRight(line, "\r\n")) {
			all.WriteString(strings.TrimRight(line, "\r\n") + "\n")
		}
	}
	return []byte(all.String())
}
