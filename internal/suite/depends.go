package suite

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// entries are what may be added to a build file: dependencies, modules, sources; nothing on tests.
var entries = []struct{ name, added *pattern.Pattern }{
	{pattern.Of(`^pom\.xml$`), pattern.Of(`^(\s*(<dependency>\s*(<(groupId|artifactId|version|scope|type|classifier|optional)>[^<>]*</[a-zA-Z]+>\s*)+</dependency>|<module>[^<>]*</module>)\s*)+$`)},
	{pattern.Of(`^settings\.gradle(\.kts)?$`), pattern.Of(`^(\s*include[ (]+["'][\w:/-]+["']\)?\s*)+$`)}, // in other files it says which tests run
	{pattern.Of(`\.gradle(\.kts)?$`), pattern.Of(`^(\s*((implementation|api|compileOnly|runtimeOnly|annotationProcessor|kapt|ksp|testImplementation|testRuntimeOnly)[ (]+((platform|project)\()?(["'][\w.:/@+-]+["']|libs\.[\w.]+)\)*)\s*)+$`)},
	{pattern.Of(`\.(cs|fs|vb)proj$`), pattern.Of(`^(\s*(<(PackageReference|ProjectReference|Compile) Include="[^"$*;<>]*"( Version="[^"<>]*")? ?/>|</?ItemGroup>)\s*)+$`)},
	{pattern.Of(`^mix\.exs$`), pattern.Of(`^(\s*(\{:\w+, "[^"#\\]*"(, (only|runtime): [\w: \[\]]+)*\},?)\s*)+$`)},
	{pattern.Of(`^composer\.json$`), pattern.Of(`^(\s*("[\w.-]+/[\w.-]+": "[^"\\]*",?)\s*)+$`)},
	{pattern.Of(`^CMakeLists\.txt$`), pattern.Of(`^(\s*([\w./-]+\.(c|cc|cpp|cxx|h|hpp)|(find_package|target_link_libraries|add_subdirectory)\([\w:./ -]+\))\s*)+$`)},
	{pattern.Of(`^BUILD(\.bazel)?$`), pattern.Of(`^(\s*("(//|@|:)[\w/:.@+-]+",)\s*)+$`)},
	{pattern.Of(`^pnpm-workspace\.yaml$`), pattern.Of(`^(\s*- ['"]?[\w./*@-]+['"]?\s*)+$`)},
	{pattern.Of(`^Package\.swift$`), pattern.Of(`^(\s*(\.(package\(url: "[^"\\]*", (from|exact): "[^"\\]*"|product\(name: "[\w-]+", package: "[\w-]+")\),?)\s*)+$`)},
}

// runs is in a dependency that decides which tests run.
var runs = pattern.Of(`(?i)junit|jupiter|testng|surefire|failsafe|spock|kotest|xunit|nunit|mstest`)

// Builds tells whether a build file has a form of which the entries are known.
func Builds(name string) bool { return form(name) >= 0 }

func form(name string) int {
	return slices.IndexFunc(entries, func(e struct{ name, added *pattern.Pattern }) bool { return e.name.MatchString(path.Base(name)) })
}

// Depends tells whether a patch of a build file only adds what the product depends on, in known forms.
func Depends(name, patch string) bool {
	at := form(name)
	_, body, changed := strings.Cut(patch, "\n@@")
	if at < 0 || !changed {
		return false
	}
	var added, removed []string
	fresh := true // no added line came just before
	for line := range strings.Lines(body) {
		text := strings.TrimSpace(line[1:])
		switch {
		case line[0] == '-':
			removed = append(removed, text)
		case line[0] == '+' && len(removed) > 0 && text == removed[0]+",": // the next entry follows it
			removed = removed[1:]
		case line[0] == '+' && fresh:
			added, fresh = append(added, text), false
			continue
		case line[0] == '+':
			added[len(added)-1] += "\n" + text
			continue
		}
		fresh = true
	}
	return len(removed) == 0 && len(added) > 0 && !slices.ContainsFunc(added, func(block string) bool {
		return !entries[at].added.MatchString(block) || runs.MatchString(block)
	})
}
