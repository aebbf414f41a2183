package egress

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// question is what a client is asked, and how its answer is read.
type question struct {
	argv func(dir string) []string
	env  []string
	read func(said string) sources
}

func plainly(argv ...string) func(string) []string { return func(string) []string { return argv } }

// questions by bundle. Cargo and Maven have no command that says it: they are
// had to fetch what is not there, and name the place when they cannot.
var questions = map[string][]question{
	"go": {{plainly("go", "env", "-json", "GOPROXY", "GOSUMDB"), []string{"GOWORK=off", "GOTOOLCHAIN=local"}, fromGo}},
	"node": {
		{plainly("npm", "config", "list", "--json"), noUpdates, fromNPM},
		{plainly("yarn", "config", "get", "registry"), noUpdates, alone},
		{plainly("yarn", "config", "get", "npmRegistryServer"), noUpdates, alone},
		{plainly("pnpm", "config", "get", "registry"), noUpdates, alone},
	},
	"python": {
		{plainly("python3", "-m", "pip", "install", "--help"), noUpdates, byDefault},
		{plainly("python3", "-m", "pip", "config", "list"), noUpdates, inLines("index-url", "find-links")},
	},
	"rust": {{
		func(dir string) []string { return []string{"cargo", "install", "--root", dir, "ralph-asks"} },
		[]string{"CARGO_HTTP_PROXY=http://127.0.0.1:1", "CARGO_NET_RETRY=0", "CARGO_NET_OFFLINE=false", "CARGO_TERM_COLOR=never"},
		inLines("download from", "failed to fetch", "to update", "Updating"),
	}},
	"ruby": {{plainly("gem", "sources", "--list"), nil, anywhere}},
	"java": {{
		func(dir string) []string {
			return []string{
				"mvn", "-B", "-Dmaven.repo.local=" + filepath.Join(dir, "maven"),
				"-Dhttps.proxyHost=127.0.0.1", "-Dhttps.proxyPort=1", "-Dhttp.proxyHost=127.0.0.1", "-Dhttp.proxyPort=1",
				"help:effective-settings",
			}
		}, nil, inLines("Downloading", "from/to"),
	}},
	"debian": {{plainly("apt-get", "update", "--print-uris"), nil, anywhere}},
}

var noUpdates = []string{"COREPACK_ENABLE_NETWORK=0", "NPM_CONFIG_UPDATE_NOTIFIER=false", "PIP_DISABLE_PIP_VERSION_CHECK=1"}

// pages are where an index tells where its packages lie.
var pages = map[string]func(index string) string{
	"python": func(index string) string { return strings.TrimSuffix(index, "/") + "/pip/" },
	"rust":   func(config string) string { return config },
}

// sources are what a client named.
type sources struct {
	urls  []string
	hosts []string // without more
}

func (s *sources) add(other sources) {
	s.urls = append(s.urls, other.urls...)
	s.hosts = append(s.hosts, other.hosts...)
}

var (
	address   = pattern.Of("https?://[^\\s\"'`<>,|()\\[\\]{}]+")
	defaultTo = pattern.Of(`\(default\s+(https?://[^\s)]+)\)`)
)

func urlsIn(text string) []string { return address.FindAllString(text, -1) }

func anywhere(said string) sources { return sources{urls: urlsIn(said)} }

// alone takes an answer whose first line is nothing but a URL.
func alone(said string) sources {
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	if urls := urlsIn(line); len(urls) == 1 && urls[0] == line {
		return sources{urls: urls}
	}
	return sources{}
}

// inLines takes the URLs of lines with one of these words; elsewhere there is
// advice, with addresses of its own.
func inLines(words ...string) func(string) sources {
	return func(said string) sources {
		var s sources
		for line := range strings.Lines(said) {
			if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(line, word) }) {
				s.urls = append(s.urls, urlsIn(line)...)
			}
		}
		return s
	}
}

// byDefault reads the help of a program that tells what its options are where
// none is given.
func byDefault(said string) sources {
	var s sources
	for _, m := range defaultTo.FindAllStringSubmatch(said, -1) {
		s.urls = append(s.urls, m[1])
	}
	return s
}

// fromGo reads what go env says. A checksum database is a name, and may have a
// key and an address.
func fromGo(said string) sources {
	var env struct{ GOPROXY, GOSUMDB string }
	if first(said, &env) != nil {
		return sources{}
	}
	s := sources{urls: urlsIn(env.GOPROXY)}
	words := strings.Fields(env.GOSUMDB)
	switch {
	case len(words) == 2:
		s.urls = append(s.urls, urlsIn(words[1])...)
	case len(words) == 1 && words[0] != "off":
		host, _, _ := strings.Cut(words[0], "+")
		s.hosts = append(s.hosts, host)
	}
	return s
}

// first reads the JSON that an answer begins with; warnings follow.
func first(said string, into any) error { return json.NewDecoder(strings.NewReader(said)).Decode(into) }

// fromNPM reads the registry, and those of scopes: "@ours:registry".
func fromNPM(said string) sources {
	var config map[string]any
	if first(said, &config) != nil {
		return sources{}
	}
	var s sources
	for key, value := range config {
		if key == "registry" || strings.HasSuffix(key, ":registry") {
			s.urls = append(s.urls, urlsIn(text(value))...)
		}
	}
	return s
}

// mostNames bounds what one client may name: a page is somebody else's.
const mostNames = 32

// answer is s as names. An http URL is none: only TLS passes.
func (s sources) answer(bundle string) Answer {
	var a Answer
	open := map[string]bool{}
	entries := slices.Clone(s.hosts)
	for _, text := range s.urls {
		u, err := url.Parse(text)
		switch {
		case err != nil:
		case u.Scheme == "https":
			entries = append(entries, strings.TrimSuffix(u.Host, ":"))
		default:
			open[u.Hostname()] = true
		}
	}
	for _, entry := range entries {
		if n, err := ParseName(entry); err == nil && !slices.Contains(a.Names, n) && len(a.Names) < mostNames {
			a.Names = append(a.Names, n)
		}
	}
	delete(open, "127.0.0.1") // the proxy that is none
	for _, host := range sorted(open) {
		a.Notes = append(a.Notes, fmt.Sprintf("%s packages come from %s over plain http, which does not pass: only TLS does", bundle, quoted(host)))
	}
	if len(a.Names) == 0 && len(a.Notes) == 0 {
		a.Notes = append(a.Notes, fmt.Sprintf("nobody here said where %s packages come from: name the hosts in allow-domains", bundle))
	}
	return a
}
