package confine_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/sandbox"
)

// homeWith returns a home with empty files, and links: "link -> place", both in the home.
func homeWith(t *testing.T, names ...string) string {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		name, place, isLink := strings.Cut(name, " -> ")
		path := filepath.Join(home, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if isLink {
			err = errors.Join(err, os.Symlink(filepath.Join(home, place), path))
		} else {
			err = errors.Join(err, os.WriteFile(path, nil, 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// A link in a project where an agent may have worked opens nothing outside of that project: not as a folder of PATH, as a
// part of its toolchain, as a program, or in a variable. Other links do.
func TestLinksOfProjectsOpenNothingElse(t *testing.T) {
	private := []string{"private/bin/key", "private/lib/key"}
	for name, test := range map[string]struct {
		files  []string
		path   string // in the home
		java   string
		opened []string
	}{
		"a part":                     {[]string{"other/.git/HEAD", "other/.venv/bin/tool", "other/.venv/lib -> private"}, "other/.venv/bin", "", []string{"other/.venv/bin"}},
		"a folder of PATH":           {[]string{"other/.git/HEAD", "other/bin -> private/bin"}, "other/bin", "", nil},
		"a folder above it":          {[]string{"other/.git/HEAD", "other/venv -> private"}, "other/venv/bin", "", nil},
		"by way of another link":     {[]string{"other/.git/HEAD", "other/venv -> mine", "mine -> private"}, "other/venv/bin", "", nil},
		"a program":                  {[]string{"other/.git/HEAD", "other/bin/key -> private/bin/key"}, "other/bin", "", []string{"other/bin"}},
		"a program beside a package": {[]string{"other/.git/HEAD", "other/node_modules/.bin/key -> private/bin/key"}, "other/node_modules/.bin", "", []string{"other/node_modules", "other/node_modules/.bin"}},
		"a link to the program":      {[]string{"other/.git/HEAD", "tools/key -> other/key", "other/key -> private/bin/key"}, "tools", "", []string{"tools"}},
		"a variable":                 {[]string{"other/.git/HEAD", "other/jdk -> private"}, "gone", "other/jdk", nil},
		"a folder with a mark":       {[]string{"marked/jdk -> private"}, "gone", "marked/jdk", nil},
		"a project in the project":   {[]string{"other/.git/HEAD", "other/sub/.git", "other/sub/jdk -> private"}, "gone", "other/sub/jdk", nil},
		"an agent's folder":          {[]string{".claude/local -> private/bin"}, ".claude/local", "", nil},
		"a folder in one":            {[]string{".codex/kit/bin/x", ".codex/kit/lib -> private"}, ".codex/kit/bin", "", []string{".codex/kit/bin"}},
		"behind the user's link":     {[]string{".claude -> settings", "settings/local -> private/bin"}, ".claude/local", "", nil},
		"a bin of an agent's":        {[]string{".codex/bin/x", ".codex/composer/x", ".codex/auth.json"}, ".codex/bin", "", []string{".codex/bin"}},
		"within an agent's folder":   {[]string{".codex/now -> .codex/v1", ".codex/v1/bin/x", ".codex/v1/lib/x"}, ".codex/now/bin", "", []string{".codex/v1/bin", ".codex/v1/lib"}},
		"within the project":         {[]string{"other/.git/HEAD", "other/jdk -> other/jdk-21", "other/jdk-21/x"}, "gone", "other/jdk", []string{"other/jdk-21"}},
		"an installer's repository":  {[]string{".rbenv/.git/HEAD", ".rbenv/bin -> .rbenv/libexec", ".rbenv/libexec/rbenv"}, ".rbenv/bin", "", []string{".rbenv", ".rbenv/libexec"}},
		"a home that is one":         {[]string{".git/HEAD", "jdk -> private"}, "gone", "jdk", []string{"private"}},
		"a link of the user's":       {[]string{"jdk -> private"}, "gone", "jdk", []string{"private"}},
		"pipx":                       {[]string{".local/bin/key -> private/bin/key"}, ".local/bin", "", []string{".local/bin", "private/bin", "private/lib"}},
	} {
		t.Run(name, func(t *testing.T) {
			home := homeWith(t, slices.Concat(private, test.files)...)
			env := []string{"PATH=" + filepath.Join(home, test.path)}
			if test.java != "" {
				env = append(env, "JAVA_HOME="+filepath.Join(home, test.java))
			}
			opened := confine.Opened(confine.Options{Home: home, Env: env, Confined: func(dir string) bool { return dir == filepath.Join(home, "marked") }})
			var got []string
			for _, place := range opened {
				way, err := filepath.Rel(home, place)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, way)
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.opened, slices.Compact(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The same for what an agent would write to: a link of the user's is followed, also in a repository of settings.
func TestLinksOfProjectsGiveNothingToWrite(t *testing.T) {
	home := homeWith(t, "private/key", "plain/.git/HEAD", "plain/codex -> private", "marked/codex -> private")
	for name, refused := range map[string]bool{"plain": false, "marked": true} {
		_, err := confine.Start(t.Context(), confine.Options{
			Level: sandbox.Auto, Home: home, Temp: t.TempDir(), Exec: nothing,
			Env: []string{"CODEX_HOME=" + filepath.Join(home, name, "codex")}, Confined: func(dir string) bool { return dir == filepath.Join(home, "marked") },
		})
		if got := strings.Contains(fault.Told(err), "a link in a project leads to an agent's files"); got != refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Of a toolchain no more is opened than what its programs are made of.
func TestToolchainIsOpenedWithoutSettings(t *testing.T) {
	for name, test := range map[string]struct{ files, opened string }{
		"foundry":  {"bin/forge share/man keystores/main config.toml", "bin share"},
		"cabal":    {"bin/x lib/x share/x config packages/x store/x", "bin lib share"},
		"luarocks": {"bin/x lib/x share/x upload_config.lua config.lua", "bin lib share"},
		"tomcat":   {"bin/x lib/x conf/tomcat-users.xml logs/x webapps/x RELEASE-NOTES", "bin lib"},
		"GOPATH":   {"bin/x pkg/mod/x src/github.com/me/x", "bin"},
		"homebrew": {"bin/x lib/x share/x Cellar/x opt/x etc/my.cnf etc/openssl@3/x var/x Homebrew/.git/x", "Cellar Homebrew bin lib opt share etc/openssl@3"},
		"go":       {"bin/go pkg/include/x src/runtime/x lib/time misc/x go.env VERSION test/x", "VERSION bin go.env lib misc pkg src"},
		"node":     {"bin/node include/x lib/x share/x LICENSE .npmrc", "bin include lib share"},
		"venv":     {"bin/python include/x lib/x pyvenv.cfg .gitignore", "bin include lib pyvenv.cfg"},
		"conda":    {"bin/python lib/x ssl/x conda-meta/x envs/x x86_64-conda-linux-gnu/x pkgs/x .condarc", "bin conda-meta envs lib ssl x86_64-conda-linux-gnu"},
		"rust":     {"bin/rustc lib/x etc/x libexec/x share/x", "bin lib libexec share"},
		"jdk":      {"bin/java conf/x include/x jmods/x legal/x lib/modules release", "bin conf include jmods lib release"},
		"jdk 8":    {"bin/java jre/x lib/x release src.zip", "bin jre lib release"},
		"maven":    {"bin/mvn boot/x conf/settings.xml lib/x", "bin boot conf lib"},
		"gradle":   {"bin/gradle init.d/x lib/x", "bin lib"},
		"sdk":      {"bin/sdkmanager lib/x source.properties", "bin lib"},
		"erlang":   {"bin/erl erts-14.2/x lib/x releases/x", "bin erts-14.2 lib releases"},
		"gcc":      {"arm-none-eabi/x bin/x lib/x", "arm-none-eabi bin lib"},
		"gcloud":   {"bin/gcloud lib/x platform/x properties data/x", "bin lib platform"},
		"composer": {"bin/x composer/installed.json autoload.php symfony/x .env.local", "autoload.php bin composer symfony"},
		"a bin":    {"bin/x letters/x VERSION", ""},
		"projects": {"bin/x lib/x .env", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var files []string
			for file := range strings.FieldsSeq(test.files) {
				files = append(files, "kit/"+file)
			}
			home := homeWith(t, files...)
			bin := filepath.Join(home, "kit", "bin")
			var want []string
			for part := range strings.FieldsSeq(test.opened) {
				want = append(want, filepath.Join(home, "kit", part))
			}
			read := confine.Toolchain(confine.Options{Env: []string{"PATH=" + bin, "HOME=" + home}})
			if diff := cmp.Diff(append([]string{bin}, want...), read); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
