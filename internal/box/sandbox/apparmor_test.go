package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// Ubuntu lets a program make user namespaces if a profile of its path allows that.
func TestAppArmor(t *testing.T) {
	if profile := sandbox.AppArmorProfile("/usr/local/bin/ralph"); !strings.Contains(profile, "\nprofile ralph \"/usr/local/bin/ralph\" flags=(unconfined) {\n  userns,\n}\n") {
		t.Errorf("the profile is %q", profile)
	}
	file := filepath.Join(t.TempDir(), "setting")
	for _, test := range []struct {
		setting string
		forbids bool
	}{{"1\n", true}, {"0\n", false}} {
		must.Do(t, os.WriteFile(file, []byte(test.setting), 0o600))
		if said := sandbox.RemedyOfAppArmor(file); strings.Contains(said, "ralph doctor --apparmor") != test.forbids {
			t.Errorf("with %q it says %q", test.setting, said)
		}
	}
	if said := sandbox.RemedyOfAppArmor(filepath.Join(t.TempDir(), "none")); said != "" {
		t.Errorf("without AppArmor it says %q", said)
	}
}
