package sandbox

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// UserNamespaces is "1" where AppArmor forbids user namespaces to programs without a profile, as Ubuntu 24.04 does.
const UserNamespaces = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"

const loadProfile = "ralph doctor --apparmor | sudo tee /etc/apparmor.d/ralph && " +
	"sudo apparmor_parser -r /etc/apparmor.d/ralph"

// AppArmorProfile returns the profile by which a program may make user namespaces, and nothing else changes.
func AppArmorProfile(program string) string {
	return fmt.Sprintf(`# %s
abi <abi/4.0>,
include <tunables/global>

profile ralph %q flags=(unconfined) {
  userns,
}
`, loadProfile, program)
}

// RemedyOfAppArmor returns how to have user namespaces if AppArmor forbids them; empty: it does not.
func RemedyOfAppArmor(file string) string {
	setting, err := untrusted.ReadFile(file, 16)
	if err != nil || strings.TrimSpace(string(setting)) != "1" {
		return ""
	}
	return "AppArmor forbids user namespaces here: " + loadProfile
}
