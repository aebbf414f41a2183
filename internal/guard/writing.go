package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ralph-loop/ralph/internal/pattern"
)

func matches(glob, rel string) bool {
	ok, err := doublestar.Match(strings.TrimPrefix(glob, "./"), rel)
	if err != nil || ok {
		return ok
	}
	// A folder protects what is in it.
	ok, _ = doublestar.Match(strings.TrimSuffix(glob, "/")+"/**", rel)
	return ok
}

var (
	devices   = pattern.Of(`^/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper|md|dm-|loop|mem|kmem|port|sr)`)
	schedules = pattern.Of(`^/etc/(?:cron|rc\.local|init\.d|systemd/system|profile|bash\.bashrc|zsh|environment|ld\.so\.preload|xdg/autostart)|^/var/spool/cron|/Library/Launch(?:Agents|Daemons)/`)
	starts    = pattern.Of(`^/(?:\.bashrc|\.bash_profile|\.bash_login|\.bash_logout|\.profile|\.zshrc|\.zshenv|\.zprofile|\.zlogin|\.config/fish/config\.fish|\.config/autostart/.*|\.config/systemd/user/.*|\.ssh/authorized_keys2?|\.ssh/rc|\.xinitrc|\.xprofile|\.pam_environment|\.claude/settings(?:\.local)?\.json|\.claude/hooks/.*|\.codex/hooks(?:\.json|/.*))$`)
	basics    = pattern.Of(`^/etc/(?:hosts|resolv\.conf|hostname|passwd|group|shadow|pam\.d|security|sysctl|fstab|nsswitch\.conf|selinux|apparmor|iptables|ufw|network|systemd)`)
	keys      = pattern.Of(`^/(?:\.ssh|\.aws|\.gnupg|\.kube|\.azure|\.config/gcloud|\.docker/config\.json|\.netrc|\.pgpass)(?:/|$)`)
	programs  = pattern.Of(`^/(?:bin|sbin|lib|lib32|lib64|boot|usr/(?:bin|sbin|lib|libexec|share|include)|System|Library)(?:/|$)`)
	gitGuts   = pattern.Of(`^/\.git/(?:config|HEAD|index|refs|objects|packed-refs|logs)(?:/|$)`)
)

// startup says that a file is run by itself, sooner or later.
func (j *judge) startup(p string) bool {
	rel, ok := strings.CutPrefix(p, j.place.Home)
	return ok && starts.MatchString(rel) || schedules.MatchString(p)
}

// writes judges that a file is written, by its path.
func (j *judge) writes(target string, sc *scope) {
	p := j.resolve(target, sc)
	if p == "" {
		return
	}
	if c := j.writing(p); c != "" {
		j.report(c, "writing to "+target)
	}
}

func (j *judge) writing(p string) Category {
	if c, ok := j.guarded(p); ok {
		return c
	}
	if rel, ok := strings.CutPrefix(p, j.place.Root); ok && p != j.place.Root {
		switch {
		case strings.HasPrefix(rel, "/.git/hooks/"):
			return Persistence
		case gitGuts.MatchString(rel):
			return GitDestruction
		}
		return ""
	}
	if rel, ok := strings.CutPrefix(p, j.place.Home); ok && keys.MatchString(rel) && !starts.MatchString(rel) && path.Base(rel) != "known_hosts" {
		return ProtectedPath
	}
	return j.systemWriting(p)
}

func (j *judge) systemWriting(p string) Category {
	switch {
	case devices.MatchString(p):
		return DiskDestruction
	case strings.HasPrefix(p, "/proc/"), strings.HasPrefix(p, "/sys/"):
		if strings.HasPrefix(p, "/proc/self/fd/") {
			return ""
		}
		return ProcessManipulation
	case strings.HasPrefix(p, "/etc/sudoers"):
		return PrivilegeEscalation
	case j.startup(p), strings.Contains(p, "/.git/hooks/"):
		return Persistence
	case basics.MatchString(p):
		return SystemConfiguration
	case strings.HasPrefix(p, "/etc/"), programs.MatchString(p):
		return ProtectedPath
	}
	return ""
}

// written are the files that a command writes.
func (c *call) written() []string {
	switch c.name {
	case "tee", "sponge", "touch":
		return c.operands("-d", "-t", "-r")
	case "cp", "mv", "install", "ln", "rsync", "scp":
		return c.copied()
	case "sed", "gsed", "perl", "awk", "gawk":
		if slices.ContainsFunc(c.args, func(a string) bool {
			return strings.HasPrefix(a, "--in-place") || len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.Contains(a[1:], "i") && c.name != "awk"
		}) {
			return tail(c.operands("-e", "-f"), len(c.values("-e", "-f")) == 0)
		}
	case "truncate":
		return c.operands("-s", "-r", "--size")
	case "curl":
		return c.values("-o", "--output")
	case "wget":
		return c.values("-O", "--output-document")
	case "sort":
		return c.values("-o")
	case "ed", "ex", "chattr":
		return c.operands()
	case "dd":
		for _, a := range c.args {
			if of, ok := strings.CutPrefix(a, "of="); ok {
				return []string{of}
			}
		}
	}
	return nil
}

// tail leaves the script out, where the first operand is one.
func tail(ops []string, script bool) []string {
	if script && len(ops) > 0 {
		return ops[1:]
	}
	return ops
}

// copied are the places that a copy goes to: the last operand, and what it
// would be called in there if it is a folder.
func (c *call) copied() []string {
	ops := c.operands("-m", "-o", "-g", "-S", "-e", "--exclude", "-P", "-i")
	to := ""
	if dirs := c.values("-t", "--target-directory"); len(dirs) > 0 && c.name != "scp" && c.name != "rsync" {
		to = dirs[0]
	} else if len(ops) > 1 {
		to, ops = ops[len(ops)-1], ops[:len(ops)-1]
	}
	if to == "" || strings.Contains(to, ":") {
		return nil
	}
	targets := []string{to}
	for _, o := range ops[:min(len(ops), 20)] {
		targets = append(targets, strings.TrimSuffix(to, "/")+"/"+path.Base(o))
	}
	return targets
}
