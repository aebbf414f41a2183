package checkdef

import (
	"encoding/json"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"golang.org/x/mod/modfile"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// Manifests come from the head: its code needs its dependencies. They are compared, never merged.

// Differs returns the parts of a manifest that differ and are neither dependencies nor what describes the package to
// its users: they may change what the checks do. Lock files and lists of requirements have none.
func Differs(name string, base, head []byte, scripts map[string]bool) []string {
	file := path.Base(name)
	switch {
	case file == "package.json":
		return jsonParts(base, head, scripts)
	case file == "go.mod":
		return modParts(base, head)
	case file == "go.work":
		return workParts(base, head)
	case strings.HasSuffix(file, ".toml"):
		return tomlParts(base, head)
	case built.MatchString(file):
		return lineParts(base, head)
	}
	return nil
}

// described are the members of package.json that tests do not depend on.
var described = pattern.Of(`^(name|version|description|keywords|homepage|bugs|license|author|contributors|funding|` +
	`files|exports|main|module|browser|bin|man|types|typings|typesVersions|directories|repository|` +
	`(dev|peer|optional|bundle|bundled)?[dD]ependencies|peerDependenciesMeta|overrides|resolutions|` +
	`engines|os|cpu|private|publishConfig|workspaces|packageManager|sideEffects|type)$`)

// unreadable is the part of a manifest that cannot be parsed.
const unreadable = "it cannot be read"

func jsonParts(base, head []byte, scripts map[string]bool) []string {
	var baseMembers, headMembers map[string]any
	if json.Unmarshal(head, &headMembers) != nil {
		return []string{unreadable}
	}
	if base == nil { // a new package
		return nil
	}
	if json.Unmarshal(base, &baseMembers) != nil {
		return []string{unreadable}
	}
	var parts []string
	for _, key := range keys(baseMembers, headMembers) {
		switch {
		case described.MatchString(key) || reflect.DeepEqual(baseMembers[key], headMembers[key]):
		case key == "scripts":
			parts = append(parts, scriptParts(baseMembers[key], headMembers[key], scripts)...)
		default:
			parts = append(parts, key)
		}
	}
	return parts
}

// scriptParts returns the scripts that a check runs, or that run by themselves, and differ.
func scriptParts(base, head any, scripts map[string]bool) []string {
	var parts []string
	baseScripts, _ := base.(map[string]any)
	headScripts, _ := head.(map[string]any)
	for _, name := range keys(baseScripts, headScripts) {
		runs := scripts[name] || slices.Contains([]string{"preinstall", "install", "postinstall", "prepare"}, name)
		if runs && !reflect.DeepEqual(baseScripts[name], headScripts[name]) {
			parts = append(parts, "scripts."+name)
		}
	}
	return parts
}

func keys(a, b map[string]any) []string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

func modParts(base, head []byte) []string {
	if base == nil {
		return nil
	}
	baseMod, err := modfile.Parse("go.mod", base, nil)
	if err != nil {
		return []string{unreadable}
	}
	headMod, err := modfile.Parse("go.mod", head, nil)
	if err != nil {
		return []string{unreadable}
	}
	var parts []string
	if !slices.Equal(excluded(baseMod), excluded(headMod)) {
		parts = append(parts, "exclude")
	}
	if !slices.Equal(debugs(baseMod), debugs(headMod)) {
		parts = append(parts, "godebug")
	}
	if !slices.Equal(replaced(baseMod), replaced(headMod)) {
		parts = append(parts, "replace")
	}
	return parts
}

// workParts returns the modules that a workspace leaves out, whose tests no longer run. A new one may leave out any.
func workParts(base, head []byte) []string {
	if base == nil {
		return []string{"use"}
	}
	var parts []string
	headLines := lines(head)
	for line := range lines(base) {
		if !headLines[line] && !goLine.MatchString(line) {
			parts = append(parts, strings.TrimSpace(line))
		}
	}
	slices.Sort(parts)
	return parts
}

// goLine matches the lines of versions.
var goLine = pattern.Of(`^((go|toolchain) .*|)$`)

func replaced(f *modfile.File) []modfile.Replace {
	var all []modfile.Replace
	for _, line := range f.Replace {
		all = append(all, modfile.Replace{Old: line.Old, New: line.New})
	}
	return all
}

func excluded(f *modfile.File) []modfile.Exclude {
	var all []modfile.Exclude
	for _, line := range f.Exclude {
		all = append(all, modfile.Exclude{Mod: line.Mod})
	}
	return all
}

func debugs(f *modfile.File) []modfile.Godebug {
	var all []modfile.Godebug
	for _, line := range f.Godebug {
		all = append(all, modfile.Godebug{Key: line.Key, Value: line.Value})
	}
	return all
}

// harmless matches the tables of pyproject.toml and Cargo.toml that tests do not depend on.
var harmless = pattern.Of(`^(project(\.(name|version|description|readme|license|authors|maintainers|keywords|` +
	`classifiers|urls|dependencies|optional-dependencies|` +
	`scripts|gui-scripts|dynamic|requires-python|license-files)\b|$)|` +
	`dependency-groups\b|build-system\b|tool\.(poetry|uv|pdm|flit|hatch\.version|setuptools)\b|` +
	`package\b|(dev-|build-)?dependencies\b|features\b|workspace\b|target\..*dependencies\b|badges\b|` +
	`bin\b|lib\b|example\b|name$|versions\b|libraries\b|plugins\b)`)

const maxTOML = 64 << 10 // what is longer is not compared: it could nest without end

func tomlParts(base, head []byte) []string {
	if base == nil {
		return nil
	}
	baseValues, headValues := map[string]any{}, map[string]any{}
	if !flatten(base, baseValues) || !flatten(head, headValues) {
		return []string{unreadable}
	}
	var parts []string
	for _, key := range keys(baseValues, headValues) {
		if baseValues[key] != headValues[key] && !harmless.MatchString(key) {
			parts = append(parts, key)
		}
	}
	return parts
}

// flatten adds the values of tables by their path.
func flatten(text []byte, all map[string]any) bool {
	for line := range strings.Lines(string(text)) {
		if strings.Count(line, ".") > 200 || strings.Count(line, "[") > 200 || strings.Count(line, "{") > 100 {
			return false // the parser would take gigabytes
		}
	}
	var tables map[string]any
	if len(text) > maxTOML || toml.Unmarshal(text, &tables) != nil {
		return false
	}
	flattenTable("", tables, all)
	return true
}

func flattenTable(above string, table, all map[string]any) {
	for name, value := range table {
		inner, ok := value.(map[string]any)
		if ok {
			flattenTable(above+name+".", inner, all)
			continue
		}
		data, _ := json.Marshal(value) // texts, numbers, times and lists have no error
		all[above+name] = string(data)
	}
}

// built matches manifests that also define what is built and tested.
var built = pattern.Of(`^(setup\.(py|cfg)|pom\.xml|mix\.exs|composer\.json|[^/]+\.gradle(\.kts)?|` +
	`[^/]+\.(cs|fs|vb)proj|pnpm-workspace\.yaml|[^/]+\.gemspec)$`)

// dependency matches the lines of such a manifest that name a dependency, a version or a module.
var dependency = pattern.Of(`^\s*(|</?(dependenc(y|ies)|ItemGroup)>|` +
	`<(groupId|artifactId|version|scope|type|classifier|optional|module)>[^<>]*</[a-zA-Z]+>|` +
	`<(PackageReference|ProjectReference) [^<>]*/?>|` +
	`(implementation|api|compileOnly|runtimeOnly|testImplementation|testRuntimeOnly)\b.*|include\b.*|` +
	`['"][\w.@/-]+(\[[\w,-]+\])?( ?([<>]=?|[=!~]=|:) ?['"\w.^*~]+,?)*['"]?,?|` +
	`\{:\w+, .*\},?|\w+\.add_(\w+_)?dependency\b.*|version *=.*|- ['"]?[\w./*@-]+['"]?|[\])},]+)\s*$`)

// runners matches dependencies that decide which tests run.
var runners = pattern.Of(`(?i)junit|jupiter|testng|surefire|failsafe|spock|kotest|xunit|nunit|mstest`)

// lineParts returns the first line that differs and names no dependency.
func lineParts(base, head []byte) []string {
	if base == nil {
		return nil
	}
	baseLines, headLines := lines(base), lines(head)
	for _, side := range []map[string]bool{baseLines, headLines} {
		for _, line := range slices.Sorted(maps.Keys(side)) {
			if baseLines[line] && headLines[line] {
				continue
			}
			if !dependency.MatchString(line) || runners.MatchString(line) {
				return []string{strings.TrimSpace(line)}
			}
		}
	}
	return nil
}

func lines(text []byte) map[string]bool {
	all := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		all[strings.TrimRight(line, "\r\n")] = true
	}
	return all
}
