package confine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// homeWith returns a home with empty files.
func homeWith(t *testing.T, names ...string) string {
	t.Helper()
	home := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	for _, name := range names {
		path := filepath.Join(home, name)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)))
	}
	return home
}

// Of a toolchain no more is opened than what its programs are made of.
func TestToolchainIsOpenedWithoutSettings(t *testing.T) {
	for name, test := range map[string]struct{ files, opened string }{
		"foundry":  {"bin/forge share/man keystores/main config.toml", "bin share"},
		"tomcat":   {"bin/x lib/x conf/tomcat-users.xml logs/x webapps/x RELEASE-NOTES", "bin lib"},
		"homebrew": {"bin/x lib/x share/x Cellar/x opt/x etc/my.cnf etc/openssl@3/x var/x Homebrew/.git/x", "Cellar Homebrew bin lib opt share etc/openssl@3"},
		"go":       {"bin/go pkg/include/x src/runtime/x lib/time misc/x go.env VERSION test/x", "VERSION bin go.env lib misc pkg src"},
		"venv":     {"bin/python include/x lib/x pyvenv.cfg .gitignore", "bin include lib pyvenv.cfg"},
		"conda":    {"bin/python lib/x ssl/x conda-meta/x envs/x x86_64-conda-linux-gnu/x pkgs/x .condarc", "bin conda-meta envs lib ssl x86_64-conda-linux-gnu"},
		"jdk":      {"bin/java conf/x include/x jmods/x legal/x lib/modules release", "bin conf include jmods lib release"},
		"maven":    {"bin/mvn boot/x conf/settings.xml lib/x", "bin boot conf lib"},
		"erlang":   {"bin/erl erts-14.2/x lib/x releases/x", "bin erts-14.2 lib releases"},
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
