package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// outputs is the part of the table that says of what kind a command's output is.
var outputs = []section{
	{fetched, "", "", []row{
		{"curl", "", "", "-o -O -I --output --remote-name --head"},
		{"wget", "-O=- --output-document=- -O=/dev/stdout"},
		{"http|https|lynx|fetch|aria2c|nc|ncat|netcat|telnet, openssl s_client"},
	}},
	{decoded, "", "", []row{
		{"base64|base32|gbase64|openssl|xxd", "-d -D -r --decode --revert"},
		{"tr|rev|gunzip|zcat|uudecode|unxz|bunzip2", "", "", "-d -s"},
		{"python|python3|perl|ruby", "*pack(* *b64decode*"},
	}},
	{archive, "", "", []row{{"tar|zip|pg_dump|pg_dumpall|mysqldump|mongodump|cpio"}}},
	{shell, "", "", []row{{"sh|bash|zsh|dash", "-i"}}},
	{every, "", "", []row{
		{"ps", "", "", "-C -p -t --pid --ppid --tty"},
		{"pgrep|pidof", "", "", "@phrase -P -F"},
		{"docker|podman ps, docker|podman volume|image|container|network ls, docker|podman images", "-q", "", "-f --filter"},
	}},
	{token, "", "", []row{
		{"env|printenv", "", "", "?*"},
		{"gh auth token, gcloud auth print-*, gcloud auth application-default print-*, az account get-access-token, vault kv get, vault read|print, heroku config|config:get|auth:token, op read, op item get, bw get, pass show, doppler secrets, railway variables, netlify env:list|env:get"},
		{"gh auth status", "-t --show-token"},
	}},
	{secret, "", "", []row{
		{"security find-*-password|dump-keychain, git credential fill, aws secretsmanager get-secret-value, aws configure export-credentials|get, az keyvault secret show, gcloud secrets versions access"},
		{"gpg", "--export-secret*"},
		{"kubectl|oc get secret|secrets", "-o=yaml -o=json -o=go-template* -o=jsonpath*.data* --output=*"},
		{"kubectl config view", "--raw"},
		{"aws ssm get-parameter*", "--with-decryption"},
	}},
	{quiet, "", "", []row{
		{"grep|egrep|rg", "-q -c -l -L --quiet --count --files-with-matches"},
		{"cut|awk|gawk|sed", `-f=1 *$1}* *$1?}* *=.\**`},
	}},
}

// Filters print what they read; of some the first operand is a script.
const (
	copiers  = "cat less more bat batcat tee xargs sponge head tail sort uniq"
	pickers  = "grep egrep rg awk gawk"
	filters  = copiers + " " + pickers + " base64 base32 nl tac sed cut tr rev jq yq gzip gunzip zcat fold paste strings od hexdump xxd column iconv"
	scripted = pickers + " sed jq yq tr"
)

func among(list, name string) bool { return slices.Contains(strings.Fields(list), name) }

func (j *judge) prints(c *call) (out string) {
	switch c.name {
	case "echo", "printf":
		return c.echoed()
	case "pwd":
		return c.scope.dir
	case "mktemp":
		return "/tmp/" + nothing
	case "ls":
		return append(c.operands(), ".")[0] + "/*"
	case "find":
		return j.find(c)
	case "printenv":
		if name := c.first(); name != "" {
			return dark + name + darkEnd
		}
	case "git":
		if slices.Equal(c.args, []string{"rev-parse", "--show-toplevel"}) {
			return j.place.Root
		}
	case "curl", "wget":
		for _, f := range append(c.written(), path.Base(c.first())) {
			j.files[j.known(f, c.scope)] = mark(fetched, c.String())
		}
	}
	kind, known := j.lookUp(c, "!")
	if known && kind.category != quiet {
		out = mark(kind.category, c.String())
	}
	if kind.category != quiet && among(filters, c.name) {
		out = then(out, j.filtered(c))
	}
	return out
}

var escaped = pattern.Of(`(?:\\(?:x[0-9a-fA-F]{1,2}|0?[0-7]{3})){2}`)

func (c *call) echoed() string {
	args := c.args
	for len(args) > 0 && among("-n -e -en -ne -E", args[0]) {
		args = args[1:]
	}
	out := strings.Join(args, " ")
	if escaped.MatchString(out) && (c.name == "printf" || c.has("-e")) {
		return mark(decoded, c.String())
	}
	if c.name == "printf" {
		out = strings.ReplaceAll(out, `\n`, "\n")
	}
	return out[:min(len(out), maxText)]
}

// filtered is what a filter lets through of its input or its files.
func (j *judge) filtered(c *call) (out string) {
	files := c.operands()
	if among(scripted, c.name) && !c.has("-e") && len(files) > 0 {
		files = files[1:]
	}
	for _, f := range files {
		out = then(out, j.contents(f, c.scope))
	}
	if out == "" || slices.Contains(files, "-") || c.name == "tee" {
		out = then(out, c.in)
	}
	switch {
	case among(copiers, c.name):
		return out
	case among(pickers, c.name):
		return c.picked(out)
	}
	return kinds(out)
}

var (
	secretName = pattern.Of(`(?i)secret|token|passw|api_?key|private_?key|credential|\bkey\b|_key\b|aws|stripe|openai|anthropic`)
	byName     = pattern.Of(`^\{|^[^ :]*[a-z][^ :]*$`) // chooses lines of ps by no more than a name
)

// picked is what is left of an output after a filter that chooses lines.
func (c *call) picked(out string) (left string) {
	by := c.first()
	for _, m := range marked.FindAllString(out, 20) {
		settings := strings.HasPrefix(m, dark+string(token)) || strings.Contains(m, ".env")
		processes := strings.HasPrefix(m, dark+string(every)+blank+"p")
		few := strings.HasPrefix(m, dark+string(every)) && (!processes || !byName.MatchString(by))
		harmless := settings && !strings.HasSuffix(c.name, "awk") && !secretName.MatchString(by) && !c.has("-v")
		if !few && !harmless {
			left += m
		}
	}
	return left
}

// contents is what a file holds, as far as it is known.
func (j *judge) contents(file string, sc *scope) string {
	if text, ok := j.files[j.known(file, sc)]; ok {
		return text
	}
	if j.secret(file, sc) != "" {
		return mark(secret, file)
	}
	return ""
}

// shows judges what the agent gets to see.
func (j *judge) shows(out string) {
	for _, m := range marked.FindAllString(out, 50) {
		if strings.HasPrefix(m, dark+string(secret)) || strings.HasPrefix(m, dark+string(token)) || telling.MatchString(m) {
			j.report(CredentialExposure, "showing "+m, "")
		}
	}
}

var (
	address   = pattern.Of(`^(?:\w+://)?(?:[^/@\s]*@)?([^/:?#\s]+)`)
	neighbour = pattern.Of("^[^.]*$|\uE000|^127\\.|^0\\.0\\.0\\.0$|\\.(?:local|localhost|internal|test)$")
)

// away says that a command speaks to another machine. A name without a dot is a
// neighbour: the database of a compose file.
func (c *call) away() bool {
	ops := c.operands("-H", "-d", "-o", "-X", "-u", "-F", "-T", "-b", "-w", "-m", "--data", "--header", "--data-binary", "--request", "--form", "--output", "--json")
	return slices.ContainsFunc(ops, func(a string) bool {
		m := address.FindStringSubmatch(a)
		return m != nil && !neighbour.MatchString(m[1])
	})
}
