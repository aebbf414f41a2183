package egress_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/process"
)

func TestBundle(t *testing.T) {
	for want, files := range map[string][]string{
		"":               {"README.md", "main.c", "node_modules/a/package.json", "vendor/x/go.mod", "docs/testdata/Cargo.lock", "go.mod.md", "mygo.sum.bak"},
		"go":             {"src/main.go", "tools/go.sum"},
		"node":           {"web/pnpm-lock.yaml"},
		"python":         {"requirements/dev.txt"},
		"rust":           {"Cargo.lock"},
		"ruby":           {"Gemfile"},
		"java":           {"gradle/verification-metadata.xml"},
		"debian":         {"debian/control"},
		"go node python": {"package-lock.json", "go.mod", "requirements-dev.txt"},
	} {
		if got := strings.Join(egress.Bundle(files), " "); got != want {
			t.Errorf("Bundle(%q) = %q, want %q", files, got, want)
		}
	}
}

// said are answers of real clients, but for the hosts.
var said = map[string]string{
	"go env": `{
	"GOPROXY": "https://proxy.example.org,https://mirror.example.org:8443/go|direct",
	"GOSUMDB": "sum.example.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"
}`,
	"npm config": `{
  "@ours:registry": "https://npm.ours.example/",
  "//npm.ours.example/:_authToken": "(protected)",
  "https-proxy": "https://proxy.company.example:8080/",
  "registry": "https://npm.example.org/"
}`,
	"yarn config": "https://yarn.example.org\n",
	"pnpm config": "undefined\n",
	"python3 -m pip install": `Package Index Options:
  -i, --index-url <url>       Base URL of the Python Package Index (default https://me:secret@pypi.example.org/simple). This should point to a
  --proxy <proxy>             Specify a proxy in the form scheme://[user:passwd@]proxy.server:port. See https://pip.example.org/help`,
	"python3 -m pip config": "global.extra-index-url='https://extra.example.org/simple http://open.example.org/simple'\nglobal.proxy='https://proxy.company.example'\n",
	"cargo install": `    Updating crates.example.org index
error: download of config.json failed

Caused by:
  failed to download from ` + "`https://index.crates.example.org/config.json`" + `
  if this goes on, read https://doc.example.org/cargo
`,
	"gem sources": "*** CURRENT SOURCES ***\n\nhttps://gems.example.org/\n",
	"mvn -B": `[INFO] Downloading from central: https://maven.example.org/maven2/org/apache/maven/plugins/x.pom
[WARNING] Could not transfer metadata x from/to mirror (https://mirror.example.org/maven2): transfer failed
[ERROR] [Help 1] http://help.example.org/MAVEN/X
`,
	"apt-get update": "'http://deb.example.org/debian/dists/bookworm/InRelease' deb.example.org_x 0\n'https://apt.example.org/debian/dists/x' x 0\n",
}

// clients answer as on a machine where all are there; what they were asked is
// kept.
type clients struct{ asked []process.Command }

func (c *clients) run(_ context.Context, command process.Command) (process.Result, error) {
	c.asked = append(c.asked, command)
	line := strings.Join(command.Argv, " ")
	for start, text := range said {
		if strings.HasPrefix(line, start) {
			to := command.Stdout
			if start == "cargo install" {
				to = command.Stderr
			}
			_, _ = io.WriteString(command.Stderr, "warning: not JSON {\n")
			_, err := io.WriteString(to, text)
			return process.Result{}, err
		}
	}
	return process.Result{}, errors.New("no such program")
}

func entries(all []egress.Name) string {
	var entries []string
	for _, n := range all {
		entries = append(entries, n.Entry())
	}
	return strings.Join(entries, " ")
}

func TestAsk(t *testing.T) {
	pages := map[string]string{
		"https://me:secret@pypi.example.org/simple/pip/": `<a href="https://files.example.org/a/pip.whl#sha256=1">pip</a><a href="../x">`,
		"https://index.crates.example.org/config.json":   `{"dl":"https://static.crates.example.org/crates","api":"https://crates.example.org"}`,
	}
	for bundle, want := range map[string]egress.Answer{
		"go":     {Names: names(t, "mirror.example.org:8443", "proxy.example.org", "sum.example.org")},
		"node":   {Names: names(t, "npm.example.org", "npm.ours.example", "yarn.example.org")},
		"python": {Names: names(t, "extra.example.org", "files.example.org", "pypi.example.org"), Notes: []string{`python packages come from "open.example.org" over plain http, which does not pass: only TLS does`}},
		"rust":   {Names: names(t, "crates.example.org", "index.crates.example.org", "static.crates.example.org")},
		"ruby":   {Names: names(t, "gems.example.org")},
		"java":   {Names: names(t, "maven.example.org", "mirror.example.org")},
		"debian": {Names: names(t, "apt.example.org"), Notes: []string{`debian packages come from "deb.example.org" over plain http, which does not pass: only TLS does`}},
	} {
		t.Run(bundle, func(t *testing.T) {
			c := &clients{}
			a := egress.Asker{
				Run: c.run, Env: []string{"HOME=/home/me", "HTTPS_PROXY=http://company.example"}, Dir: "/neutral",
				Fetch: func(_ context.Context, url string) ([]byte, error) {
					if pages[url] == "" {
						return nil, errors.New("not found")
					}
					return []byte(pages[url]), nil
				},
			}
			got, err := a.Ask(t.Context(), []string{bundle})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if strings.Contains(fmt.Sprint(got), "secret") { // the index's
				t.Errorf("a password is in %v", got)
			}
			for _, command := range c.asked {
				company, deaf := slices.Index(command.Env, "HTTPS_PROXY=http://company.example"), slices.Index(command.Env, "HTTPS_PROXY=http://127.0.0.1:1")
				if command.Dir != "/neutral" || command.Env[0] != "HOME=/home/me" || deaf < company || command.Timeout == 0 {
					t.Errorf("%q was asked in %s, with %q", command.Argv, command.Dir, command.Env)
				}
			}
		})
	}
}

// Who is not there, or says nothing that can be understood, is told of.
func TestNobodyToAsk(t *testing.T) {
	silent := func(context.Context, process.Command) (process.Result, error) { return process.Result{Exit: 127}, nil }
	all := []string{"go", "node", "python", "rust", "ruby", "java", "debian"}
	got, err := egress.Asker{Run: silent}.Ask(t.Context(), all)
	if err != nil || len(got.Names) > 0 || len(got.Notes) != len(all) || !strings.Contains(got.Notes[0], "allow-domains") {
		t.Errorf("Ask = %+v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	interrupted := func(ctx context.Context, _ process.Command) (process.Result, error) {
		return process.Result{}, ctx.Err()
	}
	if _, err := (egress.Asker{Run: interrupted}).Ask(ctx, all); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestRead(t *testing.T) {
	for _, test := range []struct{ bundle, client, said, want string }{
		{"go", "go", `{"GOPROXY":"off","GOSUMDB":"off"}`, ""},
		{"go", "go", `{"GOPROXY":"direct","GOSUMDB":"sum.example.org https://mirror.example.org/sum"}`, "mirror.example.org"},
		{"go", "go", `go: no such thing`, ""},
		{"go", "go", `{"GOPROXY":"https://10.0.0.1/,https://[::1]/,file:///x","GOSUMDB":""}`, ""},
		{"node", "npm", `{"registry":7}`, ""},
		{"node", "yarn", "Internal Error: no network, see https://yarn.example.org/help", ""},
		{"ruby", "gem", "https://a.example/ https://a.example:443/x https://A.EXAMPLE./", "a.example"},
	} {
		if got := egress.Read(test.bundle, test.client, test.said); entries(got.Names) != test.want {
			t.Errorf("%s says %s: %v, want %q", test.client, test.said, got, test.want)
		}
	}
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, "https://h%d.example/\n", i)
	}
	if got := egress.Read("ruby", "gem", many.String()); len(got.Names) != 32 {
		t.Errorf("%d names of one client", len(got.Names))
	}
}

// The client itself is asked, as the machine has it, and no project of anyone's.
func TestAskGo(t *testing.T) {
	a := egress.Asker{
		Run: new(process.Runner).Run, Dir: t.TempDir(),
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GOPROXY=https://mirror.example.org/go", "GOSUMDB=sum.example.org"},
	}
	got, err := a.Ask(t.Context(), []string{"go"})
	if err != nil || entries(got.Names) != "mirror.example.org sum.example.org" {
		t.Errorf("Ask = %+v, %v", got, err)
	}
}
