package egress

import (
	"net/url"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// registries are the hosts from which the package clients of a language fetch, by the files of a project that uses it.
var registries = []struct {
	files *pattern.Pattern
	hosts string
}{
	{
		pattern.Of(`(^|/)go\.(mod|sum|work|work\.sum)$`),
		"proxy.golang.org sum.golang.org",
	},
	{
		pattern.Of(`(^|/)(package(-lock)?\.json|npm-shrinkwrap\.json|(yarn|deno)\.lock` +
			`|pnpm-lock\.yaml|bun\.lockb?)$`),
		"registry.npmjs.org registry.yarnpkg.com",
	},
	{
		pattern.Of(`(^|/)(requirements([^/]*|/[^/]*)\.txt|(poetry|uv|pdm|Pipfile)\.lock|Pipfile` +
			`|pylock[^/]*\.toml|pyproject\.toml|setup\.py)$`),
		"pypi.org files.pythonhosted.org",
	},
	{
		pattern.Of(`(^|/)Cargo\.(lock|toml)$`),
		"index.crates.io static.crates.io",
	},
	{
		pattern.Of(`(^|/)(Gemfile(\.lock)?|gems\.(locked|rb))$`),
		"rubygems.org index.rubygems.org",
	},
	{
		pattern.Of(`(^|/)(pom\.xml|(buildscript-)?gradle\.lockfile|build\.gradle(\.kts)?` +
			`|gradle/verification-metadata\.xml)$`),
		"repo.maven.apache.org repo1.maven.org plugins.gradle.org services.gradle.org",
	},
}

var (
	vendored = pattern.Of(`(^|/)(node_modules|vendor|third_party|testdata|\.git)/`) // files of other projects
	address  = pattern.Of(`https://[^\s,|]+`)
)

// Packages returns the hosts of the packages that a project uses, by its files: paths with slashes, from its root. To
// these it adds the mirrors that variables of env name.
func Packages(env, files []string) []Name {
	files = slices.DeleteFunc(slices.Clone(files), vendored.MatchString)
	var names []Name
	for _, r := range registries {
		if !slices.ContainsFunc(files, r.files.MatchString) {
			continue
		}
		for host := range strings.FieldsSeq(r.hosts) {
			names = append(names, Name{Host: host, Port: tlsPort})
		}
	}
	if len(names) == 0 {
		return nil
	}
	mirrors := environ.Mirrors(func(name string) string { return environ.Get(env, name) })
	for _, text := range address.FindAllString(strings.Join(mirrors, " "), -1) {
		u, err := url.Parse(text)
		if err != nil {
			continue
		}
		if n, err := ParseName(strings.TrimSuffix(u.Host, ":")); err == nil {
			names = append(names, n)
		}
	}
	return names
}
