package egress

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// bundles are the kinds of packages: the files of a project that uses them, the
// commands that print this machine's package servers, and the hosts that a person
// has to name if no command prints any.
var bundles = []struct {
	name  string
	files *pattern.Pattern
	ask   []string
	hosts string
}{
	{
		name:  "go",
		files: pattern.Of(`(^|/)go\.(mod|sum|work|work\.sum)$`),
		ask:   []string{"go env -json GOPROXY GOSUMDB"},
		hosts: "the hosts of GOPROXY and GOSUMDB",
	},
	{
		name: "node",
		files: pattern.Of(`(^|/)(package(-lock)?\.json|npm-shrinkwrap\.json|(yarn|deno)\.lock` +
			`|pnpm-lock\.yaml|bun\.lockb?)$`),
		ask: []string{
			"npm config list --json", "pnpm config get registry",
			"yarn config get registry", "yarn config get npmRegistryServer",
		},
		hosts: "the hosts of npm's registries",
	},
	{
		name: "python",
		files: pattern.Of(`(^|/)(requirements([^/]*|/[^/]*)\.txt|(poetry|uv|pdm|Pipfile)\.lock|Pipfile` +
			`|pylock[^/]*\.toml|pyproject\.toml|setup\.py)$`),
		ask:   []string{"python3 -m pip config list"},
		hosts: "the hosts of pip's index and of its files",
	},
	{
		name:  "rust",
		files: pattern.Of(`(^|/)Cargo\.(lock|toml)$`),
		hosts: "the hosts of cargo's index and of its downloads",
	},
	{
		name:  "ruby",
		files: pattern.Of(`(^|/)(Gemfile(\.lock)?|gems\.(locked|rb))$`),
		ask:   []string{"gem sources --list"},
		hosts: "the hosts of gem's sources",
	},
	{
		name: "java",
		files: pattern.Of(`(^|/)(pom\.xml|(buildscript-)?gradle\.lockfile|build\.gradle(\.kts)?` +
			`|gradle/verification-metadata\.xml)$`),
		hosts: "the hosts of the repositories of Maven or Gradle",
	},
	{
		name:  "debian",
		files: pattern.Of(`(^|/)(debian/control|Aptfile)$`),
		ask:   []string{"apt-get indextargets --format $(REPO_URI)"},
		hosts: "the hosts of apt's sources",
	},
}

var (
	vendored = pattern.Of(`(^|/)(node_modules|vendor|third_party|testdata|\.git)/`) // files of other projects
	setting  = pattern.Of(`^https?:|"(GOPROXY|GOSUMDB|registry|@[^"]*:registry)": |[.-]index-url=|\.find-links=`)
	address  = pattern.Of("https?://[^\\s\"'`<>,|()\\[\\]{}\\\\]+")
	// sumDB matches a name, which is the host where no URL follows.
	sumDB = pattern.Of(`"GOSUMDB": "([^"+ ]+\.[^"+ ]+)(\+[^" ]*)?"`)
)

// Run runs a command, as process.Runner does.
type Run func(context.Context, process.Command) (process.Result, error)

// Packages returns the hosts from which this machine gets the packages that a
// project uses, by the project's files: paths with slashes, from its root. The
// package clients print their configuration, so mirrors are found. A note says
// what a person has to do about a bundle. The only error is that of ctx.
func Packages(ctx context.Context, run Run, env, files []string) (names []Name, notes []string, err error) {
	files = slices.DeleteFunc(slices.Clone(files), vendored.MatchString)
	for _, b := range bundles {
		if !slices.ContainsFunc(files, b.files.MatchString) {
			continue
		}
		var urls []string
		for _, command := range b.ask {
			urls = append(urls, configured(ctx, run, env, command)...)
		}
		found, unprotected := hosts(urls)
		names = append(names, found...)
		for _, host := range unprotected {
			notes = append(notes, fmt.Sprintf(
				"%s packages come from %s over plain http, which is blocked: configure an https address",
				b.name, quoted(host)))
		}
		if len(found)+len(unprotected) == 0 {
			notes = append(notes, fmt.Sprintf(
				"no host is known for %s packages: name %s in allow-domains", b.name, b.hosts))
		}
	}
	return names, notes, ctx.Err()
}

// configured runs a command in /, where no repository can configure it.
func configured(ctx context.Context, run Run, env []string, command string) []string {
	out := &process.Head{N: 4 << 20}
	result, err := run(ctx, process.Command{
		Argv: strings.Fields(command),
		Dir:  "/",
		// No other version of the tool is downloaded.
		Env:     slices.Concat(env, []string{"COREPACK_ENABLE_NETWORK=0", "GOTOOLCHAIN=local"}),
		Stdout:  out,
		Timeout: time.Minute,
	})
	if err != nil || result.Exit != 0 {
		return nil
	}
	var urls []string
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSpace(line)
		if setting.MatchString(line) {
			urls = append(urls, address.FindAllString(line, -1)...)
		}
		if name := sumDB.FindStringSubmatch(line); name != nil {
			urls = append(urls, "https://"+name[1])
		}
	}
	return urls
}

// hosts returns the hosts of https URLs, and of those that TLS does not protect.
func hosts(urls []string) (names []Name, unprotected []string) {
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil {
			continue
		}
		if u.Scheme != "https" {
			if !slices.Contains(unprotected, u.Hostname()) {
				unprotected = append(unprotected, u.Hostname())
			}
			continue
		}
		n, err := ParseName(strings.TrimSuffix(u.Host, ":"))
		if err == nil && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names, unprotected
}
