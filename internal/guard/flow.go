package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

var outputRules = []ruleGroup{
	{fetchedOutput, "", "", []row{
		{"curl", "", "", "-o -O -I --output --remote-name --head"},
		{"wget", "-O=- --output-document=- -O=/dev/stdout"},
		{"http|https|lynx|fetch|aria2c|nc|ncat|netcat|telnet, openssl s_client"},
	}},
	{decodedOutput, "", "", []row{
		{"base64|base32|gbase64|openssl|xxd", "-d -D -r --decode --revert"},
		{"tr|rev|gunzip|zcat|uudecode|unxz|bunzip2", "", "", "-d -s"},
		{"python|python3|perl|ruby", "*pack(* *b64decode*"},
	}},
	{archiveOutput, "", "", []row{{"tar|zip|pg_dump|pg_dumpall|mysqldump|mongodump|cpio"}}},
	{shellOutput, "", "", []row{{"sh|bash|zsh|dash", "-i"}}},
	{listOutput, "", "", []row{
		{"ps", "", "", "-C -p -t --pid --ppid --tty"},
		{"pgrep|pidof", "", "", "@phrase -P -F"},
		{"docker|podman ps, docker|podman volume|image|container|network ls, docker|podman images", "-q", "", "-f --filter"},
	}},
	{tokenOutput, "", "", []row{
		{"env|printenv", "", "", "?*"},
		{"gh auth token, gcloud auth print-*, gcloud auth application-default print-*, az account get-access-token, vault kv get, vault read|print, heroku config|config:get|auth:token, op read, op item get, bw get, pass show, doppler secrets, railway variables, netlify env:list|env:get"},
		{"gh auth status", "-t --show-token"},
	}},
	{secretOutput, "", "", []row{
		{"security find-*-password|dump-keychain, git credential fill, aws secretsmanager get-secret-value, aws configure export-credentials|get, az keyvault secret show, gcloud secrets versions access"},
		{"gpg", "--export-secret*"},
		{"kubectl|oc get secret|secrets", "-o=yaml -o=json -o=go-template* -o=jsonpath*.data* --output=*"},
		{"kubectl config view", "--raw"},
		{"aws ssm get-parameter*", "--with-decryption"},
	}},
	{noOutput, "", "", []row{
		{"grep|egrep|rg", "-q -c -l -L --quiet --count --files-with-matches"},
		{"cut|awk|gawk|sed", `-f=1 *$1}* *$1?}* *=.\**`},
	}},
}

// Filters print what they read. The first operand of scriptFirst is a script.
const (
	copyFilters = "cat less more bat batcat tee xargs sponge head tail sort uniq"
	lineFilters = "grep egrep rg awk gawk"
	textFilters = copyFilters + " " + lineFilters + " base64 base32 nl tac sed cut tr rev jq yq gzip gunzip zcat fold paste strings od hexdump xxd column iconv"
	scriptFirst = lineFilters + " sed jq yq tr"
)

func isInList(list, name string) bool { return slices.Contains(strings.Fields(list), name) }

func (j *judge) outputOf(c *call) (out string) {
	switch c.name {
	case "echo", "printf":
		return c.echoOutput()
	case "pwd":
		return c.scope.dir
	case "ls":
		return append(c.operands(), ".")[0] + "/*"
	case "find":
		return j.find(c)
	case "curl", "wget":
		for _, f := range append(c.writtenFiles(), path.Base(c.first())) {
			j.files[j.fileKey(f, c.scope)] = mark(fetchedOutput, c.String())
		}
	}
	kind, known := j.lookUp(c, "!")
	if known && kind.category != noOutput {
		out = mark(kind.category, c.String())
	}
	if kind.category != noOutput && isInList(textFilters, c.name) {
		out = joinOutput(out, j.filterOutput(c))
	}
	return out
}

func (c *call) echoOutput() string {
	args := c.args
	for len(args) > 0 && isInList("-n -e -en -ne -E", args[0]) {
		args = args[1:]
	}
	out := strings.Join(args, " ")
	if c.name == "printf" {
		out = strings.ReplaceAll(out, `\n`, "\n")
	}
	return out[:min(len(out), maxText)]
}

func (j *judge) filterOutput(c *call) (out string) {
	files := c.operands()
	if isInList(scriptFirst, c.name) && !c.has("-e") && len(files) > 0 {
		files = files[1:]
	}
	for _, f := range files {
		out = joinOutput(out, j.fileText(f, c.scope))
	}
	if out == "" {
		out = joinOutput(out, c.stdin)
	}
	switch {
	case isInList(copyFilters, c.name):
		return out
	case isInList(lineFilters, c.name) && !strings.HasSuffix(c.name, "awk") && !c.has("-v") && !secretName.MatchString(c.first()):
		out = settingsMark.ReplaceAllString(out, "") // it shows harmless lines of them
	}
	return marksIn(out)
}

var (
	secretName   = pattern.Of(`(?i)secret|token|passw|api_?key|private_?key|credential|\bkey\b|_key\b|aws|stripe|openai|anthropic`)
	settingsMark = pattern.Of("\uE000(?:!token|[^\uE001]*\\.env)[^\uE001]*\uE001")
)

func (j *judge) fileText(file string, sc *scope) string {
	if text, ok := j.files[j.fileKey(file, sc)]; ok {
		return text
	}
	if j.secretKind(file, sc) != "" {
		return mark(secretOutput, file)
	}
	return ""
}

func (j *judge) checkShown(out string) {
	for _, m := range markPattern.FindAllString(out, 50) {
		if strings.HasPrefix(m, markStart+secretOutput.Name) || strings.HasPrefix(m, markStart+tokenOutput.Name) || secretVariable.MatchString(m) {
			j.report(CredentialExposure, "showing "+m, "")
		}
	}
}

var (
	hostPattern = pattern.Of(`^(?:\w+://)?(?:[^/@\s]*@)?([^/:?#\s]+)`)
	localHost   = pattern.Of("^[^.]*$|\uE000|^127\\.|^0\\.0\\.0\\.0$|\\.(?:local|localhost|internal|test)$")
)

// A name without a dot is local: the database of a compose file.
func (c *call) isRemote() bool {
	ops := c.operands("-H", "-d", "-o", "-X", "-u", "-F", "-T", "-b", "-w", "-m", "--data", "--header", "--data-binary", "--request", "--form", "--output", "--json")
	return slices.ContainsFunc(ops, func(a string) bool {
		m := hostPattern.FindStringSubmatch(a)
		return m != nil && !localHost.MatchString(m[1])
	})
}
