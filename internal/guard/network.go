package guard

import (
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// local is this machine, a neighbour in a container network, or not known.
func local(host string) bool {
	host = strings.Trim(host, "[]")
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.IsLoopback() || addr.IsUnspecified()
	}
	return host == "" || !strings.Contains(host, ".") || strings.Contains(host, dark) ||
		strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".internal") || strings.HasSuffix(host, ".test")
}

func hostOf(address string) string {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(strings.NewReplacer(dark, "", darkEnd, "").Replace(address))
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// away says that a command speaks to a machine that is not this one.
func (c *call) away() bool {
	return slices.ContainsFunc(c.operands("-H", "-d", "-o", "-X", "-u", "-A", "-F", "-T", "--data", "--header", "--data-binary", "--data-raw", "--request", "--upload-file", "--form", "-e", "-b", "-w", "-m", "--max-time", "--data-urlencode"),
		func(a string) bool {
			_, after, at := strings.Cut(a, "@")
			if at && !strings.Contains(a, "://") {
				a = after
			}
			return strings.Contains(a, ".") && !local(hostOf(a))
		})
}

func (c *call) toFileOnly() bool {
	switch c.name {
	case "curl":
		return c.has("oOI", "--output", "--remote-name", "--head") && !slices.Contains(c.values("-o", "--output"), "-") && !slices.Contains(c.values("-o"), "/dev/stdout")
	case "wget":
		to := strings.Join(c.values("-O", "--output-document"), " ")
		cluster := slices.ContainsFunc(c.args, func(a string) bool {
			return strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "O-")
		})
		apart := c.has("O", "") && slices.Contains(c.args, "-")
		return to != "-" && to != "/dev/stdout" && !cluster && !apart
	}
	return false
}

// remember which files came from the network.
func (j *judge) downloads(c *call) {
	files := c.written()
	if c.outFile != "" {
		files = append(files, c.outFile)
	}
	if c.name == "wget" && len(files) == 0 || c.name == "curl" && c.has("O", "--remote-name") {
		for _, u := range c.operands() {
			files = append(files, path.Base(u))
		}
	}
	for _, f := range files {
		j.fetched[j.resolve(f, c.scope)] = true
	}
}

// remoteAccess judges what lets somebody else in.
func (j *judge) remoteAccess(c *call) {
	if c.lets() {
		j.report(RemoteAccess, c.String())
	}
}

func (c *call) lets() bool {
	toShell := nextShell(c.next) || c.subs.secret == shellSecret || c.in.secret == shellSecret
	words := strings.Join(c.args, " ")
	switch c.name {
	case "nc", "ncat", "netcat":
		return toShell || c.has("ec", "--exec", "--sh-exec", "--lua-exec")
	case "telnet":
		return toShell
	case "openssl":
		return toShell && c.first() == "s_client"
	case "socat":
		return socatRuns.MatchString(words)
	case "ssh", "autossh":
		return len(c.values("-R")) > 0
	case "sshd", "localtunnel", "lt", "bore", "telnetd", "tmate":
		return !c.has("V", "--version", "--help")
	case "ngrok":
		return !slices.Contains([]string{"", "version", "help", "config"}, c.first())
	case "cloudflared":
		return c.first() == "tunnel"
	case "nmap", "masscan":
		return c.away()
	case "awk", "gawk":
		return strings.Contains(words, "/inet/tcp/")
	}
	return false
}

// shellSecret is what a shell prints: the whole machine, to whoever listens.
const shellSecret = "a shell"

var socatRuns = pattern.Of(`(?i)\b(exec|system|shell):`)

func nextShell(next [][]string) bool {
	return slices.ContainsFunc(next, func(w []string) bool { return len(w) > 0 && isShell(commandName(w[0])) })
}

// exfiltration judges what is sent to another machine.
func (j *judge) exfiltration(c *call) {
	if slices.Contains(senders, c.name) && !c.localOnly() {
		if what := c.in.secret + c.subs.secret; what != "" {
			j.report(DataExfiltration, "sending "+what+" with "+c.name)
		}
		if c.in.tree && c.name != "ssh" {
			j.report(DataExfiltration, "sending an archive with "+c.name)
		}
	}
	switch c.name {
	case "curl":
		j.uploads(c)
	case "wget":
		for _, f := range c.values("--post-file", "--body-file") {
			j.sent(f, c)
		}
	case "scp", "rsync", "sftp":
		j.copiesAway(c)
	case "aws", "gsutil", "gcloud", "gh", "rclone", "s3cmd":
		j.copiesToCloud(c)
	case "nc", "ncat", "netcat":
		if c.inFile != "" && c.inFile != "/dev/null" && c.away() {
			j.report(DataExfiltration, "sending "+c.inFile+" with "+c.name)
		}
	}
}

// senders take what they send from their input or their words.
var senders = []string{
	"curl", "wget", "nc", "ncat", "netcat", "socat", "telnet", "mail", "mailx", "sendmail", "mutt",
	"dig", "nslookup", "host", "ftp", "http", "https", "httpie", "ssh", "gsutil", "ping",
}

func (j *judge) copiesToCloud(c *call) {
	if c.name != "rclone" && !slices.ContainsFunc(c.args, func(a string) bool { return slices.Contains([]string{"cp", "sync", "mv", "gist", "put"}, a) }) {
		return
	}
	for _, f := range c.operands() {
		if what := j.secretFile(f, c.scope); what != "" {
			j.report(DataExfiltration, "sending "+what+" with "+c.name)
		}
	}
}

// localOnly: the one machine it speaks to is this one.
func (c *call) localOnly() bool {
	switch c.name {
	case "mail", "mailx", "sendmail", "mutt", "dig", "nslookup", "host", "ping", "gsutil":
		return false
	}
	return !c.away() && !strings.Contains(strings.Join(c.args, " "), dark)
}

func (j *judge) uploads(c *call) {
	if !c.away() {
		return
	}
	for _, d := range c.values("-d", "--data", "--data-binary", "--data-ascii", "--data-urlencode", "--json") {
		if _, f, ok := strings.Cut(d, "@"); ok && (strings.HasPrefix(d, "@") || !strings.ContainsAny(d, " {\"")) {
			j.sent(f, c)
		}
	}
	for _, d := range c.values("-F", "--form") {
		if _, f, ok := strings.Cut(d, "=@"); ok {
			f, _, _ = strings.Cut(f, ";")
			j.sent(f, c)
		}
	}
	for _, f := range c.values("-T", "--upload-file") {
		j.sent(f, c)
	}
}

var hoard = pattern.Of(`(?i)\.(?:tar|tgz|gz|zip|7z|sql|db|sqlite3?|dump|bak|env|xz|bz2|kdbx|pcap)$`)

// sent judges a file that goes to another machine.
func (j *judge) sent(f string, c *call) {
	if f == "-" || f == "." {
		if c.in.secret != "" || c.in.tree {
			j.report(DataExfiltration, "sending "+c.in.secret+" with "+c.name)
		}
		return
	}
	what := j.secretFile(f, c.scope)
	p := j.resolve(f, c.scope)
	a := j.where(p)
	plain := slices.ContainsFunc(c.args, func(a string) bool { return strings.HasPrefix(a, "http://") })
	if what != "" || a == system || a == homeFile || a == outside || hoard.MatchString(f) || plain && a != somewhere {
		j.report(DataExfiltration, "sending "+f+" to another machine")
	}
}

func (j *judge) copiesAway(c *call) {
	ops := c.operands("-i", "-P", "-o", "-F", "-e", "-l", "-c", "--exclude", "--rsh")
	if len(ops) < 2 || !strings.Contains(ops[len(ops)-1], ":") {
		return
	}
	for _, f := range ops[:len(ops)-1] {
		if strings.Contains(f, ":") {
			continue
		}
		if a := j.where(j.resolve(f, c.scope)); a != somewhere && a != inside && a != temporary {
			j.report(DataExfiltration, c.String())
		}
		if what := j.secretFile(f, c.scope); what != "" {
			j.report(DataExfiltration, "sending "+what+" with "+c.name)
		}
	}
}
