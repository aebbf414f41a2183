package guard

import (
	"regexp"
	"slices"
	"strings"
)

// alters are commands that change the system unless what they are asked is
// only to show something.
var alters = map[string]*regexp.Regexp{
	"iptables":     regexp.MustCompile(`^(?:.* )?(?:-L|-S|-n|-C|--list|--version|-h)\b`),
	"ip6tables":    regexp.MustCompile(`^(?:.* )?(?:-L|-S|-n|-C|--list|--version|-h)\b`),
	"nft":          regexp.MustCompile(`\blist\b|--version`),
	"ufw":          regexp.MustCompile(`^(?:status|version|show)|--dry-run`),
	"firewall-cmd": regexp.MustCompile(`--(?:list|get|state|query)`),
	"useradd":      regexp.MustCompile(`^--help`),
	"adduser":      regexp.MustCompile(`^--help`),
	"userdel":      regexp.MustCompile(`^--help`),
	"deluser":      regexp.MustCompile(`^--help`),
	"usermod":      regexp.MustCompile(`^--help`),
	"groupadd":     regexp.MustCompile(`^--help`),
	"groupdel":     regexp.MustCompile(`^--help`),
	"passwd":       regexp.MustCompile(`^(?:-S|--status|--help)`),
	"chpasswd":     regexp.MustCompile(`^--help`),
	"visudo":       regexp.MustCompile(`^-c`),
	"at":           regexp.MustCompile(`^-[lc]\b|^--version`),
	"batch":        regexp.MustCompile(`^--help`),
	"setenforce":   regexp.MustCompile(`^--help`),
}

// changes are commands that alter the system when asked in these words.
var changes = map[string]*regexp.Regexp{
	"sysctl":       regexp.MustCompile(`-w\b|--write|=|-p\b|--load`),
	"systemctl":    regexp.MustCompile(`\b(?:enable|disable|stop|mask|kill|isolate|set-default|edit|daemon-reexec)\b`),
	"service":      regexp.MustCompile(`^\S+ stop\b`),
	"launchctl":    regexp.MustCompile(`^(?:load|unload|bootstrap|bootout|remove|disable|enable|submit)\b`),
	"hostnamectl":  regexp.MustCompile(`set-hostname|^hostname `),
	"timedatectl":  regexp.MustCompile(`^set-`),
	"date":         regexp.MustCompile(`^(?:.* )?(?:-s|--set)\b`),
	"route":        regexp.MustCompile(`^(?:add|del|flush|delete)\b`),
	"ip":           regexp.MustCompile(`^(?:.* )?(?:link set|route (?:del|flush|add|replace)|addr(?:ess)? (?:del|flush|add))\b`),
	"ifconfig":     regexp.MustCompile(`\b(?:down|up)\b`),
	"nmcli":        regexp.MustCompile(`\b(?:delete|down|off|modify)\b`),
	"crontab":      regexp.MustCompile(`^(?:.* )?-[er]\b|^-$|^[^-]`),
	"apt":          regexp.MustCompile(`^(?:-\S+ )*(?:remove|purge|autoremove)\b`),
	"apt-get":      regexp.MustCompile(`^(?:-\S+ )*(?:remove|purge|autoremove)\b`),
	"dpkg":         regexp.MustCompile(`^(?:-P|-r|--purge|--remove)\b`),
	"yum":          regexp.MustCompile(`^(?:-\S+ )*(?:remove|erase)\b`),
	"dnf":          regexp.MustCompile(`^(?:-\S+ )*(?:remove|erase)\b`),
	"pacman":       regexp.MustCompile(`^-R`),
	"csrutil":      regexp.MustCompile(`disable`),
	"spctl":        regexp.MustCompile(`--master-disable|--global-disable`),
	"networksetup": regexp.MustCompile(`^-set`),
	"update-rc.d":  regexp.MustCompile(`\b(?:remove|disable|defaults)\b`),
	"chattr":       regexp.MustCompile(`^(?:.* )?/(?:etc|usr|bin|boot)\b`),
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

var pid1 = regexp.MustCompile(`^(?:1|-1|0)$`)

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

var powers = regexp.MustCompile(`^(?:-\S+ )*(?:poweroff|reboot|halt|suspend|hibernate|kexec|rescue|emergency)\b`)

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
	for _, id := range args {
		if pid1.MatchString(id) || id == everything {
			j.report(ProcessManipulation, c.String())
		}
	}
}

// Programs that the machine, or this very run, stands on.
var vital = regexp.MustCompile(`^(?:systemd.*|init|sshd|dockerd|containerd|kubelet|cron|crond|NetworkManager|dbus-daemon|Xorg|gnome-shell|loginwindow|WindowServer|Finder|launchd|ralph|claude|codex|bash|zsh|sh|tmux|\.|\.\*|\*|/|.)$`)

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

var digits = regexp.MustCompile(`^\d+$`)

// attaches judges a debugger put to a process that runs already.
func (j *judge) attaches(c *call) {
	switch c.name {
	case "strace", "ltrace", "gdb", "lldb":
		if slices.ContainsFunc(c.values("-p", "--pid", "--attach"), digits.MatchString) {
			j.report(ProcessManipulation, c.String())
		}
	}
}
