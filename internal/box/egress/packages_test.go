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
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// clients runs package clients that print these configurations, by the beginning
// of the command.
type clients map[string]string

func (c clients) run(_ context.Context, command process.Command) (process.Result, error) {
	line := strings.Join(command.Argv, " ")
	for start, text := range c {
		if strings.HasPrefix(line, start) && command.Dir == "/" && command.Env[0] == "HOME=/home/me" && command.Timeout > 0 {
			text, failed := strings.CutPrefix(text, "FAILS ")
			_, err := io.WriteString(command.Stdout, text)
			return process.Result{Exit: map[bool]int{true: 1}[failed]}, err
		}
	}
	return process.Result{Exit: 127}, errors.New("no such program")
}

func entries(all []egress.Name) string {
	var entries []string
	for _, n := range all {
		entries = append(entries, n.Entry())
	}
	return strings.Join(entries, " ")
}

// The hosts come from the configuration of package clients, and a note tells what
// is missing. The configurations are real, except for the hosts.
func TestPackages(t *testing.T) {
	const unknown = "no host is known for %s packages: name %s in allow-domains"
	for _, test := range []struct {
		name, file string
		clients    clients
		want       string
		note       string
	}{
		{name: "mirrors of go", file: "go.mod", clients: clients{"go env": `{
	"GOPROXY": "direct,https://proxy.example.org,https://mirror.example.org:8443/go|direct",
	"GOSUMDB": "sum.example.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"
}`}, want: "proxy.example.org mirror.example.org:8443 sum.example.org"},
		{name: "a checksum database with a URL", file: "go.mod", clients: clients{"go env": `{
	"GOPROXY": "off",
	"GOSUMDB": "sum.example.org+033d+Ac4z https://mirror.example.org/sum"
}`}, want: "mirror.example.org"},
		{name: "addresses", file: "go.mod", clients: clients{"go env": `{
	"GOPROXY": "https://10.0.0.1/,https://[::1]/,file:///x",
	"GOSUMDB": "off"
}`}, note: fmt.Sprintf(unknown, "go", "the hosts of GOPROXY and GOSUMDB")},
		{name: "registries of scopes", file: "package.json", clients: clients{"npm config list": `{
  "@ours:registry": "https://npm.ours.example/",
  "//npm.ours.example/:_authToken": "(protected)",
  "https-proxy": "https://proxy.company.example:8080/",
  "registry": "https://npm.example.org/"
}`, "pnpm config get registry": "undefined\n", "yarn config get registry": "https://yarn.example.org\n"}, want: "npm.ours.example npm.example.org yarn.example.org"},
		{
			name: "a client that fails", file: "yarn.lock", clients: clients{"yarn config": "FAILS https://yarn.example.org/help\n"},
			note: fmt.Sprintf(unknown, "node", "the hosts of npm's registries"),
		},
		{name: "indexes of pip", file: "uv.lock", clients: clients{"python3 -m pip config list": `:env:.index-url='https://me:secret@pypi.example.org/simple'
global.extra-index-url='\nhttps://extra.example.org/simple\nhttps://more.example.org/simple'
install.find-links='/wheels https://wheels.example.org/'
global.proxy='https://proxy.company.example'
`}, want: "pypi.example.org extra.example.org more.example.org wheels.example.org"},
		{
			name: "pip without a configured index", file: "setup.py", clients: clients{"python3 -m pip config list": "global.timeout='60'\n"},
			note: fmt.Sprintf(unknown, "python", "the hosts of pip's index and of its files"),
		},
		{name: "cargo", file: "Cargo.lock", note: fmt.Sprintf(unknown, "rust", "the hosts of cargo's index and of its downloads")},
		{name: "gem", file: "Gemfile", clients: clients{"gem sources": "*** CURRENT SOURCES ***\n\nhttps://gems.example.org/\nhttps://GEMS.example.org.:443/x\n"}, want: "gems.example.org"},
		{name: "maven", file: "pom.xml", note: fmt.Sprintf(unknown, "java", "the hosts of the repositories of Maven or Gradle")},
		{
			name: "apt", file: "debian/control", clients: clients{"apt-get indextargets": "http://deb.example.org/debian/\nhttp://deb.example.org/debian/\nhttps://apt.example.org/debian/\n"},
			want: "apt.example.org", note: `debian packages come from "deb.example.org" over plain http, which is blocked: configure an https address`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			names, notes, err := egress.Packages(t.Context(), test.clients.run, []string{"HOME=/home/me"}, []string{"README.md", test.file})
			if err != nil || entries(names) != test.want {
				t.Errorf("Packages = %v, %v, want %s", names, err, test.want)
			}
			if diff := cmp.Diff(slices.DeleteFunc([]string{test.note}, func(s string) bool { return s == "" }), notes, cmp.Comparer(slices.Equal[[]string])); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// A kind of package counts only if the project's own files use it.
func TestPackagesOfProject(t *testing.T) {
	for files, want := range map[string]string{
		"README.md main.c node_modules/a/package.json vendor/x/go.mod docs/testdata/Cargo.lock go.mod.md mygo.sum.bak": "",
		"src/main.go tools/go.sum": "go", "web/pnpm-lock.yaml": "node", "requirements/dev.txt": "python", "Cargo.lock": "rust", "Gemfile": "ruby",
		"gradle/verification-metadata.xml": "java", "debian/control": "debian", "package-lock.json go.mod requirements-dev.txt": "go node python",
	} {
		_, notes, err := egress.Packages(t.Context(), clients{}.run, []string{""}, strings.Fields(files))
		var got []string
		for _, note := range notes {
			bundle, _, _ := strings.Cut(strings.TrimPrefix(note, "no host is known for "), " ")
			got = append(got, bundle)
		}
		if strings.Join(got, " ") != want || err != nil {
			t.Errorf("%s: bundles %q, %v, want %q", files, got, err, want)
		}
	}
}

func TestPackagesInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := egress.Packages(ctx, clients{}.run, []string{""}, []string{"go.mod"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Packages = %v", err)
	}
}

// The real client prints the mirror that this machine configures.
func TestPackagesOfMirror(t *testing.T) {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GOPROXY=https://mirror.example.org/go", "GOSUMDB=sum.example.org"}
	names, notes, err := egress.Packages(t.Context(), new(process.Runner).Run, env, []string{"go.mod"})
	if err != nil || entries(names) != "mirror.example.org sum.example.org" || len(notes) > 0 {
		t.Errorf("Packages = %v, %q, %v", names, notes, err)
	}
}

// FuzzPackages checks that the hosts are valid names, for any output of a package client.
func FuzzPackages(f *testing.F) {
	f.Add("GOPROXY=x\n\"GOPROXY\": \"https://proxy.example:8443,http://open.example|direct\"\n\"GOSUMDB\": \"sum.example+key\"\n")
	f.Add("https://user:pass@registry.example/\nhttps://[::1]:443/ https://10.0.0.1 https://x:99999 https://\x00 https://ex\xffample.com\n")
	f.Add("\"registry\": \"https://a..b/\"\nglobal.index-url='https://*.example/simple'\nhttps://EXAMPLE.com.:443 https://xn--/ https://\u2028.example\n")
	f.Fuzz(func(t *testing.T, printed string) {
		run := func(_ context.Context, c process.Command) (process.Result, error) {
			_, err := c.Stdout.Write([]byte(printed))
			return process.Result{}, err
		}
		names, notes, err := egress.Packages(t.Context(), run, nil, []string{"go.mod", "package.json", "Aptfile"})
		if err != nil {
			t.Error(err)
		}
		for _, name := range names {
			if again, err := egress.ParseName(name.String()); err != nil || again != name {
				t.Errorf("the host %+v is read again as %+v, %v", name, again, err)
			}
		}
		for _, note := range notes {
			if strings.ContainsFunc(note, unicode.IsControl) {
				t.Errorf("the note %q", note)
			}
		}
	})
}
