package egress

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// bundles are the kinds of packages, each with the files that say that a
// project takes some. A pattern is of a file's name, or where it has a slash of
// the end of its path.
var bundles = []struct {
	name  string
	files []string
}{
	{"go", []string{"go.mod", "go.sum", "go.work", "go.work.sum"}},
	{"node", []string{
		"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb", "deno.lock", "package.json",
	}},
	{"python", []string{
		"requirements*.txt", "requirements/*.txt", "poetry.lock", "Pipfile", "Pipfile.lock", "uv.lock", "pdm.lock", "pylock*.toml",
		"pyproject.toml", "setup.py",
	}},
	{"rust", []string{"Cargo.lock", "Cargo.toml"}},
	{"ruby", []string{"Gemfile", "Gemfile.lock", "gems.locked", "gems.rb"}},
	{"java", []string{
		"pom.xml", "gradle.lockfile", "buildscript-gradle.lockfile", "build.gradle", "build.gradle.kts", "gradle/verification-metadata.xml",
	}},
	{"debian", []string{"debian/control", "Aptfile"}},
}

// theirs are folders of what others wrote.
var theirs = set("node_modules", "vendor", "third_party", "testdata", ".git")

// Bundle names the kinds of packages that a project takes, by its files as they
// are at the base: go, node, python, rust, ruby, java, debian. Paths have
// slashes and begin at the root.
func Bundle(files []string) []string {
	var found []string
	for _, b := range bundles {
		if slices.ContainsFunc(files, func(file string) bool { return ours(file) && fits(b.files, file) }) {
			found = append(found, b.name)
		}
	}
	return found
}

func ours(file string) bool {
	folder := path.Dir(file)
	return !slices.ContainsFunc(strings.Split(folder, "/"), func(name string) bool { return theirs[name] })
}

func fits(patterns []string, file string) bool {
	folder, name := path.Split(file)
	short := path.Join(path.Base(folder), name)
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		of := name
		if strings.Contains(pattern, "/") {
			of = short
		}
		matched, err := path.Match(pattern, of)
		return err == nil && matched
	})
}

func sorted(words map[string]bool) []string { return slices.Sorted(maps.Keys(words)) }
