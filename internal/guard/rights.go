package guard

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// rights judges who may do what: becoming root, setuid, world-writable.
func (j *judge) rights(c *call) {
	switch c.name {
	case "sudo", "doas":
		j.sudo(c)
	case "pkexec", "setcap", "visudo":
		if !c.has("", "--version") {
			j.report(PrivilegeEscalation, c.String())
		}
	case "usermod", "gpasswd", "adduser":
		if adminGroup.MatchString(strings.Join(c.args, " ")) {
			j.report(PrivilegeEscalation, c.String())
		}
	case "chmod":
		j.chmod(c)
	case "chown", "chgrp":
		j.chown(c)
	}
}

var adminGroup = pattern.Of(`\b(?:sudo|wheel|docker|root|admin)\b`)

// Root is needed for these in ordinary work on a machine for development, and
// they have been judged by themselves already.
var sudoable = pattern.Of(`^(?:apt|apt-get|dnf|yum|apk|pacman|zypper|brew|snap) .*\b(?:install|update|upgrade|add|-S\w*|list|search)\b|^(?:apk add|pacman -S)|^(?:service|systemctl|rc-service) .*\b(?:start|restart|status|reload|is-active)\b|^(?:journalctl|lsof|ss|netstat|dmesg|true|whoami|id|ls|du|df|docker|docker-compose|npx playwright|playwright|tcpdump|dpkg -i|update-ca-certificates|ldconfig|locale-gen|add-apt-repository|apt-key|mkdir|iotop|fuser|lsblk|which|test)\b`)

func (j *judge) sudo(c *call) {
	inner, _ := wrappers[c.name].inner(c.args)
	if len(inner) == 0 {
		if c.has("is", "--login", "--shell") {
			j.report(PrivilegeEscalation, c.String())
		}
		return
	}
	if user := c.values("-u", "--user"); len(user) > 0 && user[0] != "root" && user[0] != "#0" {
		return
	}
	name, args := commandName(inner[0]), inner[1:]
	if !sudoable.MatchString(name+" "+strings.Join(args, " ")) && !j.ownWork(name, args, c.scope) {
		j.report(PrivilegeEscalation, c.String())
	}
}

// ownWork: root is asked for what is the user's all the same, such as what a
// container built in the project, and for logs.
func (j *judge) ownWork(name string, args []string, sc *scope) bool {
	var areas []area
	logs, made := 0, true
	for _, p := range (&call{name: name, args: args}).operands() {
		p = j.resolve(p, sc)
		if strings.HasPrefix(p, "/var/log/") {
			logs++
			continue
		}
		areas = append(areas, j.where(p))
		made = made && j.where(p) == inside && derived.MatchString(p)
	}
	switch name {
	case "chown":
		if slices.ContainsFunc(args, func(a string) bool { return a == "root" || strings.HasPrefix(a, "root:") }) {
			return false
		}
		fallthrough
	case "chmod", "tee", "kill":
		return logs == 0 && !slices.Contains(areas, system)
	case "rm":
		return logs == 0 && made
	case "cat", "tail", "head", "less", "grep", "zgrep", "zcat", "wc":
		return logs > 0 && !slices.ContainsFunc(areas, func(a area) bool { return a >= system })
	}
	return false
}

// becomes judges su, and the command that it runs.
func (j *judge) becomes(c *call) {
	user := "root"
	for _, o := range c.operands("-c", "-s", "--command") {
		if o != "-" {
			user = o
			break
		}
	}
	for _, script := range c.values("-c", "--command") {
		j.script(script, c.scope.sub(), stream{})
	}
	if user == "root" {
		j.report(PrivilegeEscalation, c.String())
	}
}

var (
	setuid = pattern.Of(`^[2467]\d{3}$|^0[2467]\d{3}$|^[ugoa]*\+[rwxX]*s`)
	open   = pattern.Of(`^[0-7]?[0-7][0-7][2367]$|^(?:a|o|ugo|)[+=][rxX]*w[rxX]*$`)
)

func (j *judge) chmod(c *call) {
	ops := c.operands("--reference")
	if len(ops) == 0 {
		return
	}
	mode, files := ops[0], ops[1:]
	if setuid.MatchString(mode) && mode != "2775" && mode != "2755" {
		j.report(PrivilegeEscalation, c.String())
		return
	}
	tree := c.has("R", "--recursive")
	for _, f := range files {
		a := j.where(j.resolve(f, c.scope))
		far := a == root || a == home || a == system || a == outside || a == homeFile && derived.FindString(f) == ""
		switch {
		case open.MatchString(mode) && mode != "+w" && a != temporary && (far || tree || len(mode) >= 3 && a != somewhere):
			j.report(PrivilegeEscalation, c.String())
		case tree && (a == root || a == system || a == home):
			j.report(PrivilegeEscalation, c.String())
		case a == system && devices.MatchString(j.resolve(f, c.scope)), a == root:
			j.report(PrivilegeEscalation, c.String())
		}
	}
}

func (j *judge) chown(c *call) {
	ops := c.operands("--reference", "--from")
	if len(ops) < 2 {
		return
	}
	toRoot := ops[0] == "root" || strings.HasPrefix(ops[0], "root:")
	for _, f := range ops[1:] {
		a := j.where(j.resolve(f, c.scope))
		far := slices.Contains([]area{root, home, system}, a)
		if toRoot && a != inside || far && (c.has("R", "--recursive") || a != system || j.writing(j.resolve(f, c.scope)) != "") {
			j.report(PrivilegeEscalation, c.String())
		}
	}
}
