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

// Differs returns the parts of a manifest that differ and are neither dependencies nor what describes the package to its
// users: they may change what the checks do. Lock files and lists of requirements have none.
func Differs(name string, was, is []byte, scripts map[string]bool) []string {
	base := path.Base(name)
	switch {
	case base == "package.json":
		return jsonParts(was, is, scripts)
	case base == "go.mod":
		return modParts(was, is)
	case base == "go.work":
		return workParts(was, is)
	case strings.HasSuffix(base, ".toml"):
		return tomlParts(was, is)
	case built.MatchString(base):
		return lineParts(was, is)
	}
	return nil
}

// described are the members of package.json that tests do not depend on.
var described = pattern.Of(`^(name|version|description|keywords|homepage|bugs|license|author|contributors|funding|files|exports|main|module|browser|bin|man|types|` +
	`typings|typesVersions|directories|repository|(dev|peer|optional|bundle|bundled)?[dD]ependencies|peerDependenciesMeta|overrides|resolutions|engines|os|cpu|private|` +
	`publishConfig|workspaces|packageManager|sideEffects|type)$`)

func jsonParts(was, is []byte, scripts map[string]bool) (parts []string) {
	var before, now map[string]any
	if json.Unmarshal(is, &now) != nil || was != nil && json.Unmarshal(was, &before) != nil {
		return []string{"it cannot be read"}
	}
	if was == nil {
		return nil // of a new package
	}
	for _, key := range keys(before, now) {
		switch {
		case described.MatchString(key) || reflect.DeepEqual(before[key], now[key]):
		case key == "scripts":
			parts = append(parts, scriptParts(before[key], now[key], scripts)...)
		default:
			parts = append(parts, key)
		}
	}
	return parts
}

// scriptParts returns the scripts that a check runs, or that run by themselves, and differ.
func scriptParts(was, is any, scripts map[string]bool) (parts []string) {
	before, _ := was.(map[string]any)
	now, _ := is.(map[string]any)
	for _, name := range keys(before, now) {
		runs := scripts[name] || slices.Contains([]string{"preinstall", "install", "postinstall", "prepare"}, name)
		if runs && before[name] != now[name] {
			parts = append(parts, "scripts."+name)
		}
	}
	return parts
}

func keys(one, other map[string]any) []string {
	all := maps.Clone(one)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, other)
	return slices.Sorted(maps.Keys(all))
}

func modParts(was, is []byte) (parts []string) {
	if was == nil {
		return nil
	}
	before, err := modfile.Parse("go.mod", was, nil)
	if err != nil {
		return []string{"it cannot be read"}
	}
	now, err := modfile.Parse("go.mod", is, nil)
	if err != nil {
		return []string{"it cannot be read"}
	}
	for name, lines := range map[string][2]any{
		"replace": {replaced(before), replaced(now)}, "exclude": {excluded(before), excluded(now)}, "godebug": {debugs(before), debugs(now)},
	} {
		if !reflect.DeepEqual(lines[0], lines[1]) {
			parts = append(parts, name)
		}
	}
	slices.Sort(parts)
	return parts
}

// workParts returns the modules that a workspace leaves out, whose tests no longer run. A new one may leave out any.
func workParts(was, is []byte) (parts []string) {
	if was == nil {
		return []string{"use"}
	}
	now := lines(is)
	for line := range lines(was) {
		if !now[line] && !goLine.MatchString(line) {
			parts = append(parts, strings.TrimSpace(line))
		}
	}
	slices.Sort(parts)
	return parts
}

// goLine matches the lines of versions.
var goLine = pattern.Of(`^((go|toolchain) .*|)$`)

func replaced(f *modfile.File) (all []modfile.Replace) {
	for _, one := range f.Replace {
		all = append(all, modfile.Replace{Old: one.Old, New: one.New})
	}
	return all
}

func excluded(f *modfile.File) (all []modfile.Exclude) {
	for _, one := range f.Exclude {
		all = append(all, modfile.Exclude{Mod: one.Mod})
	}
	return all
}

func debugs(f *modfile.File) (all []modfile.Godebug) {
	for _, one := range f.Godebug {
		all = append(all, modfile.Godebug{Key: one.Key, Value: one.Value})
	}
	return all
}

// harmless matches the tables of pyproject.toml and Cargo.toml that tests do not depend on.
var harmless = pattern.Of(`^(project(\.(name|version|description|readme|license|authors|maintainers|keywords|classifiers|urls|dependencies|optional-dependencies|` +
	`scripts|gui-scripts|dynamic|requires-python|license-files)\b|$)|dependency-groups\b|build-system\b|tool\.(poetry|uv|pdm|flit|hatch\.version|setuptools)\b|` +
	`package\b|(dev-|build-)?dependencies\b|features\b|workspace\b|target\..*dependencies\b|badges\b|bin\b|lib\b|example\b|name$|versions\b|libraries\b|plugins\b)`)

const maxTOML = 64 << 10 // what is longer is not compared: it could nest without end

func tomlParts(was, is []byte) (parts []string) {
	if was == nil {
		return nil
	}
	before, now := map[string]string{}, map[string]string{}
	if !flatten(was, before) || !flatten(is, now) {
		return []string{"it cannot be read"}
	}
	for _, key := range slices.Sorted(maps.Keys(merged(before, now))) {
		if before[key] != now[key] && !harmless.MatchString(key) {
			parts = append(parts, key)
		}
	}
	return parts
}

func merged(one, other map[string]string) map[string]string {
	all := maps.Clone(one)
	maps.Copy(all, other)
	return all
}

// flatten adds the values of tables by their path.
func flatten(text []byte, all map[string]string) bool {
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

func flattenTable(above string, table map[string]any, all map[string]string) {
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
var built = pattern.Of(`^(setup\.(py|cfg)|pom\.xml|mix\.exs|composer\.json|[^/]+\.gradle(\.kts)?|[^/]+\.(cs|fs|vb)proj|pnpm-workspace\.yaml|[^/]+\.gemspec)$`)

// dependency matches the lines of such a manifest that name a dependency, a version or a module.
var dependency = pattern.Of(`^\s*(|</?(dependenc(y|ies)|ItemGroup)>|<(groupId|artifactId|version|scope|type|classifier|optional|module)>[^<>]*</[a-zA-Z]+>|` +
	`<(PackageReference|ProjectReference) [^<>]*/?>|(implementation|api|compileOnly|runtimeOnly|testImplementation|testRuntimeOnly)\b.*|include\b.*|` +
	`['"][\w.@/-]+(\[[\w,-]+\])?( ?([<>]=?|[=!~]=|:) ?['"\w.^*~]+,?)*['"]?,?|\{:\w+, .*\},?|\w+\.add_(\w+_)?dependency\b.*|version *=.*|- ['"]?[\w./*@-]+['"]?|[\])},]+)\s*$`)

// runners matches dependencies that decide which tests run.
var runners = pattern.Of(`(?i)junit|jupiter|testng|surefire|failsafe|spock|kotest|xunit|nunit|mstest`)

// lineParts returns the first line that differs and names no dependency.
func lineParts(was, is []byte) []string {
	if was == nil {
		return nil
	}
	before, now := lines(was), lines(is)
	for _, side := range []map[string]bool{before, now} {
		for _, line := range slices.Sorted(maps.Keys(side)) {
			if before[line] && now[line] {
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
