package egress_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/egress"
)

// A language counts only if the project's own files use it.
func TestPackages(t *testing.T) {
	for files, want := range map[string]string{
		"README.md main.c node_modules/a/package.json vendor/x/go.mod docs/testdata/Cargo.lock go.mod.md mygo.sum.bak": "",
		"src/main.go tools/go.sum":         "proxy.golang.org sum.golang.org",
		"web/pnpm-lock.yaml":               "registry.npmjs.org registry.yarnpkg.com",
		"requirements/dev.txt":             "pypi.org files.pythonhosted.org",
		"Cargo.lock":                       "index.crates.io static.crates.io",
		"Gemfile":                          "rubygems.org index.rubygems.org",
		"gradle/verification-metadata.xml": "repo.maven.apache.org repo1.maven.org plugins.gradle.org services.gradle.org",
		"package-lock.json go.mod":         "proxy.golang.org sum.golang.org registry.npmjs.org registry.yarnpkg.com",
	} {
		if got := entries(egress.Packages(nil, strings.Fields(files))); got != want {
			t.Errorf("%s: %q, want %q", files, got, want)
		}
	}
}

// Mirrors are allowed by their names alone, and where the project uses packages.
func TestPackagesOfMirrors(t *testing.T) {
	env := []string{
		"GOPROXY=direct,https://proxy.example.org,https://mirror.example.org:8443/go|https://10.0.0.1/,https://[::1]/,file:///x",
		"NPM_CONFIG_REGISTRY=http://open.example.org/", "PIP_INDEX_URL=https://me:secret@pypi.example.org/simple",
		"OTHER=https://other.example.org",
	}
	const want = "index.crates.io static.crates.io proxy.example.org mirror.example.org:8443"
	if got := entries(egress.Packages(env, []string{"Cargo.toml"})); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := egress.Packages(env, []string{"README.md"}); got != nil {
		t.Errorf("%v, want none", got)
	}
}

func entries(all []egress.Name) string {
	var entries []string
	for _, n := range all {
		entries = append(entries, n.Entry())
	}
	return strings.Join(entries, " ")
}
