package guard

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// alters are commands that change the system unless what they are asked is
// only to show something.
var alters = map[string]*pattern.Pattern{
	"iptables":     pattern.Of(`^(?:.* )?(?:-L|-S|-n|-C|--list|--version|-h)\b`),
	"ip6tables":    pattern.Of(`^(?:.* )?(?:-L|-S|-n|-C|--list|--version|-h)\b`),
	"nft":          pattern.Of(`\blist\b|--version`),
	"ufw":          pattern.Of(`^(?:status|version|show)|--dry-run`),
	"firewall-cmd": pattern.Of(`--(?:list|get|state|query)`),
	"useradd":      pattern.Of(`^--help`),
	"adduser":      pattern.Of(`^--help`),
	"userdel":      pattern.Of(`^--help`),
	"deluser":      pattern.Of(`^--help`),
	"usermod":      pattern.Of(`^--help`),
	"groupadd":     pattern.Of(`^--help`),
	"groupdel":     pattern.Of(`^--help`),
	"passwd":       pattern.Of(`^(?:-S|--status|--help)`),
	"chpasswd":     pattern.Of(`^--help`),
	"visudo":       pattern.Of(`^-c`),
	"at":           pattern.Of(`^-[lc]\b|^--version`),
	"batch":        pattern.Of(`^--help`),
	"setenforce":   pattern.Of(`^--help`),
}

// changes are commands that alter the system when asked in these words.
var changes = map[string]*pattern.Pattern{
	"sysctl":       pattern.Of(`-w\b|--write|=|-p\b|--load`),
	"systemctl":    pattern.Of(`\b(?:enable|disable|stop|mask|kill|isolate|set-default|edit|daemon-reexec)\b`),
	"service":      pattern.Of(`^\S+ stop\b`),
	"launchctl":    pattern.Of(`^(?:load|unload|bootstrap|bootout|remove|disable|enable|submit)\b`),
	"hostnamectl":  pattern.Of(`set-hostname|^hostname `),
	"timedatectl":  pattern.Of(`^set-`),
	"date":         pattern.Of(`^(?:.* )?(?:-s|--set)\b`),
	"route":        pattern.Of(`^(?:add|del|flush|delete)\b`),
	"ip":           pattern.Of(`^(?:.* )?(?:link set|route (?:del|flush|add|replace)|addr(?:ess)? (?:del|flush|add))\b`),
	"ifconfig":     pattern.Of(`\b(?:down|up)\b`),
	"nmcli":        pattern.Of(`\b(?:delete|down|off|modify)\b`),
	"crontab":      pattern.Of(`^(?:.* )?-[er]\b|^-$|^[^-]`),
	"apt":          pattern.Of(`^(?:-\S+ )*(?:remove|purge|autoremove)\b`),
	"apt-get":      pattern.Of(`^(?:-\S+ )*(?:remove|purge|autoremove)\b`),
	"dpkg":         pattern.Of(`^(?:-P|-r|--purge|--remove)\b`),
	"yum":          pattern.Of(`^(?:-\S+ )*(?:remove|erase)\b`),
	"dnf":          pattern.Of(`^(?:-\S+ )*(?:remove|erase)\b`),
	"pacman":       pattern.Of(`^-R`),
	"csrutil":      pattern.Of(`disable`),
	"spctl":        pattern.Of(`--master-disable|--global-disable`),
	"networksetup": pattern.Of(`^-set`),
	"update-rc.d":  pattern.Of(`\b(?:remove|disable|defaults)\b`),
	"chattr":       pattern.Of(`^(?:.* )?/(?:etc|usr|bin|boot)\b`),
}

// system judges changes to the machine's own settings.
func (j *judge) system(c *call) {
	words := strings.Join(c.args, " ")
	cat := SystemConfiguration
	if c.name == "at" || c.name == "batch" {
		cat = Persistence
	}
	if shows, ok := alters[c.name]; ok && (len(c.args) > 0 || c.name == "chpasswd" || c.name == "passwd" || c.name == "batch") && !shows.MatchString(words) {
		j.report(cat, c.String())
	}
	if asks, ok := changes[c.name]; ok && asks.MatchString(words) {
		j.report(cat, c.String())
	}
}

var pid1 = pattern.Of(`^(?:1|-1|0)$`)

// process judges what stops the machine or more processes than one's own.
func (j *judge) process(c *call) {
	words := strings.Join(c.args, " ")
	switch c.name {
	case "reboot", "shutdown", "poweroff", "halt":
		if !c.has("ck", "--help", "--version") {
			j.report(ProcessManipulation, c.String())
		}
	case "init", "telinit":
		if words == "0" || words == "6" || words == "1" {
			j.report(ProcessManipulation, c.String())
		}
	case "systemctl":
		if powers.MatchString(words) {
			j.report(ProcessManipulation, c.String())
		}
	case "kill":
		j.kills(c)
	case "killall5":
		j.report(ProcessManipulation, c.String())
	case "killall", "pkill":
		j.killsByName(c)
	case "insmod", "rmmod", "kexec":
		j.report(ProcessManipulation, c.String())
	case "modprobe":
		if !c.has("nDc", "--dry-run", "--show-depends", "--show-config", "--version") {
			j.report(ProcessManipulation, c.String())
		}
	}
	j.attaches(c)
}

var powers = pattern.Of(`^(?:-\S+ )*(?:poweroff|reboot|halt|suspend|hibernate|kexec|rescue|emergency)\b`)

func (j *judge) kills(c *call) {
	args := c.args
	if len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "--" && args[0] != "-1" || len(args) > 1 && args[0] == "-1" {
		if args[0] == "-s" || args[0] == "-n" {
			args = args[min(1, len(args)):]
		}
		args = args[min(1, len(args)):]
	}
	if len(c.args) > 0 && (c.args[0] == "-l" || c.args[0] == "-0") {
		return
	}
	if c.everyone() {
		j.report(ProcessManipulation, c.String()+": not only what you started")
	}
	for _, id := range args {
		if pid1.MatchString(id) || id == everything {
			j.report(ProcessManipulation, c.String())
		}
	}
}

// Programs that the machine, or this very run, stands on.
var vital = pattern.Of(`^(?:systemd.*|init|sshd|dockerd|containerd|kubelet|cron|crond|NetworkManager|dbus-daemon|Xorg|gnome-shell|loginwindow|WindowServer|Finder|launchd|ralph|claude|codex|bash|zsh|sh|tmux|\.|\.\*|\*|/|.)$`)

func (j *judge) killsByName(c *call) {
	if c.has("uU", "--user", "--euid", "--uid") && len(c.operands("-u", "-U")) == 0 {
		j.report(ProcessManipulation, c.String()+": all of a user's processes")
		return
	}
	for _, name := range c.operands("-u", "-U", "-s", "--signal", "-P", "-t", "-g") {
		if vital.MatchString(name) {
			j.report(ProcessManipulation, c.String())
		}
	}
}

var digits = pattern.Of(`^\d+$`)

// attaches judges a debugger put to a process that runs already.
func (j *judge) attaches(c *call) {
	switch c.name {
	case "strace", "ltrace", "gdb", "lldb":
		if slices.ContainsFunc(c.values("-p", "--pid", "--attach"), digits.MatchString) {
			j.report(ProcessManipulation, c.String())
		}
	}
}
