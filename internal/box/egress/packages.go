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
	{"go", pattern.Of(`(^|/)go\.(mod|sum|work|work\.sum)$`), []string{"go env -json GOPROXY GOSUMDB"}, "the hosts of GOPROXY and GOSUMDB"},
	{
		"node", pattern.Of(`(^|/)(package(-lock)?\.json|npm-shrinkwrap\.json|(yarn|deno)\.lock|pnpm-lock\.yaml|bun\.lockb?)$`),
		[]string{"npm config list --json", "pnpm config get registry", "yarn config get registry", "yarn config get npmRegistryServer"},
		"the hosts of npm's registries",
	},
	{
		"python", pattern.Of(`(^|/)(requirements([^/]*|/[^/]*)\.txt|(poetry|uv|pdm|Pipfile)\.lock|Pipfile|pylock[^/]*\.toml|pyproject\.toml|setup\.py)$`),
		[]string{"python3 -m pip config list"},
		"the hosts of pip's index and of its files",
	},
	{"rust", pattern.Of(`(^|/)Cargo\.(lock|toml)$`), nil, "the hosts of cargo's index and of its downloads"},
	{"ruby", pattern.Of(`(^|/)(Gemfile(\.lock)?|gems\.(locked|rb))$`), []string{"gem sources --list"}, "the hosts of gem's sources"},
	{
		"java", pattern.Of(`(^|/)(pom\.xml|(buildscript-)?gradle\.lockfile|build\.gradle(\.kts)?|gradle/verification-metadata\.xml)$`),
		nil, "the hosts of the repositories of Maven or Gradle",
	},
	{"debian", pattern.Of(`(^|/)(debian/control|Aptfile)$`), []string{"apt-get indextargets --format $(REPO_URI)"}, "the hosts of apt's sources"},
}

var (
	vendored = pattern.Of(`(^|/)(node_modules|vendor|third_party|testdata|\.git)/`) // files of other projects
	setting  = pattern.Of(`^https?:|"(GOPROXY|GOSUMDB|registry|@[^"]*:registry)": |[.-]index-url=|\.find-links=`)
	address  = pattern.Of("https?://[^\\s\"'`<>,|()\\[\\]{}\\\\]+")
	sumDB    = pattern.Of(`"GOSUMDB": "([^"+ ]+\.[^"+ ]+)(\+[^" ]*)?"`) // a name, which is the host where no URL follows
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
		found, open := hosts(urls)
		names = append(names, found...)
		for _, host := range open {
			notes = append(notes, fmt.Sprintf("%s packages come from %s over plain http, which is blocked: configure an https address", b.name, quoted(host)))
		}
		if len(found)+len(open) == 0 {
			notes = append(notes, fmt.Sprintf("no host is known for %s packages: name %s in allow-domains", b.name, b.hosts))
		}
	}
	return names, notes, ctx.Err()
}

// configured runs a command in /, where no repository can configure it.
func configured(ctx context.Context, run Run, env []string, command string) (urls []string) {
	out := &process.Head{N: 4 << 20}
	env = slices.Concat(env, []string{"COREPACK_ENABLE_NETWORK=0", "GOTOOLCHAIN=local"}) // no other version is downloaded
	result, err := run(ctx, process.Command{Argv: strings.Fields(command), Dir: "/", Env: env, Stdout: out, Timeout: time.Minute})
	if err != nil || result.Exit != 0 {
		return nil
	}
	for line := range strings.Lines(out.String()) {
		if line = strings.TrimSpace(line); setting.MatchString(line) {
			urls = append(urls, address.FindAllString(line, -1)...)
		}
		if name := sumDB.FindStringSubmatch(line); name != nil {
			urls = append(urls, "https://"+name[1])
		}
	}
	return urls
}

// hosts returns the hosts of https URLs, and of those that TLS does not protect.
func hosts(urls []string) (names []Name, open []string) {
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil {
			continue
		}
		n, err := ParseName(strings.TrimSuffix(u.Host, ":"))
		switch {
		case u.Scheme != "https" && !slices.Contains(open, u.Hostname()):
			open = append(open, u.Hostname())
		case u.Scheme == "https" && err == nil && !slices.Contains(names, n):
			names = append(names, n)
		}
	}
	return names, open
}
