package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

var (
	homeSecrets = pattern.Of(`^/(?:\.ssh/(?:id_[^/]*|[^/]*key[^/]*|identity|\*)?|\.ssh$|\.aws(?:/cred[^/]*|/\*)?$|\.kube(?:/config|/\*)?$|\.docker/config\.json|\.netrc|\.pgpass|\.my\.cnf|\.npmrc|\.pypirc|\.git-credentials|\.gnupg(?:/.*)?$|\.config/gcloud/.*|\.config/gh/hosts\.yml|\.azure/.*|\.cargo/credentials.*|\.gem/credentials|\.claude/\.credentials\.json|\.codex/auth\.json|\.vault-token|\.terraform\.d/credentials.*|\.config/hub|\.s3cfg|\.boto|\.password-store.*|\.local/share/keyrings.*|Library/Keychains.*|\.[a-z_]*history|\.env.*)`)
	systemKeys  = pattern.Of(`^/(?:etc/(?:g?shadow-?|sudoers(?:\.d/.*)?|ssh/ssh_host_.*_key|krb5\.keytab|kubernetes/admin\.conf|security/opasswd)|proc/[^/]+/(?:environ|mem)|root/(?:\.ssh|\.aws|\.[a-z_]*history)(?:/.*)?|(?:var/)?run/secrets/.*)$`)
	dotEnv      = pattern.Of(`^\.env(?:\..+)?$|^[^.]+\.env$`)
	sampleEnv   = pattern.Of(`(?i)\.(?:example|sample|template|dist|defaults?|test|ci|tpl|schema)$`)
	keyFiles    = pattern.Of(`(?i)^id_(?:rsa|dsa|ecdsa|ed25519)$|\.(?:p12|pfx|ppk|kdbx|jks)$|^(?:[^.]*private[^.]*|[^.]*[_-]key|key|privkey)\.pem$|\.key$|^credentials\.json$|^service[-_]?account.*\.json$|^\.(?:netrc|pgpass|git-credentials|htpasswd)$`)
	notReal     = pattern.Of(`(?i)/(?:tests?|testdata|fixtures?|examples?|__tests__|mocks?|spec|docs?)/`)
)

// openSSH are the files among the keys that hold none.
var openSSH = []string{"config", "known_hosts", "known_hosts.old", "authorized_keys", "allowed_signers"}

// secretFile names the secret that a path holds, "" if it holds none.
func (j *judge) secretFile(name string, sc *scope) string {
	if name == "" || strings.HasPrefix(name, "-") {
		return ""
	}
	base := strings.ReplaceAll(path.Base(name), "*", "")
	p := j.resolve(name, sc)
	if p == "" && strings.Contains(name, "/.ssh/id_") {
		return name
	}
	if strings.HasSuffix(base, ".pub") || path.Base(path.Dir(name)) == ".ssh" && slices.Contains(openSSH, base) {
		return ""
	}
	if rel, ok := strings.CutPrefix(p, j.place.Home); ok && !strings.HasPrefix(p, j.place.Root+"/") && homeSecrets.MatchString(rel) && !sampleEnv.MatchString(base) {
		return name
	}
	if systemKeys.MatchString(p) || somebodyElses.MatchString(p) {
		return name
	}
	if dotEnv.MatchString(base) && !sampleEnv.MatchString(base) {
		return name
	}
	if keyFiles.MatchString(base) && !notReal.MatchString("/"+name) {
		return name
	}
	return ""
}

var somebodyElses = pattern.Of(`^/(?:home|Users)/[^/]+/\.(?:ssh/id_[^/.]*|aws/credentials|kube/config|netrc|bash_history|gnupg/.*)$`)

var readers = []string{
	"cat", "less", "more", "head", "tail", "bat", "batcat", "base64", "xxd", "od", "hexdump", "strings", "cp", "tar", "zip", "nl", "tac",
	"grep", "egrep", "rg", "awk", "sed", "cut", "sort", "vim", "vi", "nano", "view", "dd", "rev", "paste", "fold", "jq", "yq", "gpg", "mv", "install", "diff", "openssl", "ln", "pbcopy", "xclip", "7z", "tee", "sponge", "column", "uniq",
}

// credentials judges what shows or copies a secret.
func (j *judge) credentials(c *call) {
	j.dumps(c)
	for _, f := range append(c.readFiles(), c.inFile) {
		what := j.secretFile(f, c.scope)
		if what != "" && slices.Contains(readers, c.name) && !j.harmless(c, f) {
			j.report(CredentialExposure, c.name+" "+f)
		}
	}
}

// readFiles are the operands that are read and shown, or copied.
func (c *call) readFiles() []string {
	files := c.operands()
	switch c.name {
	case "grep", "egrep", "rg":
		if c.has("qlcL", "--quiet", "--count", "--files-with-matches") {
			return nil
		}
		return tail(c.operands("-e", "-f"), len(c.values("-e")) == 0)
	case "sed", "jq", "yq":
		if len(c.written()) > 0 {
			return nil
		}
		return tail(c.operands("-e", "-f"), len(c.values("-e")) == 0)
	case "awk":
		return tail(c.operands("-F", "-v"), true)
	case "cp", "mv", "install", "ln":
		return files[:max(0, len(files)-1)]
	case "openssl":
		if c.first() == "base64" || c.first() == "enc" {
			return files
		}
	case "dd":
		for _, a := range c.args {
			if f, ok := strings.CutPrefix(a, "if="); ok {
				return []string{f}
			}
		}
	case "tee", "sponge":
	default:
		return files
	}
	return nil
}

// harmless: a .env of the project is made from its sample, loaded into
// variables, searched for one name, or only its names are shown.
func (j *judge) harmless(c *call, f string) bool {
	base := path.Base(f)
	if !dotEnv.MatchString(base) || j.where(j.resolve(f, c.scope)) == homeFile {
		return false
	}
	switch c.name {
	case "cp", "mv", "install", "ln", "diff":
		return true
	case "grep", "egrep", "rg":
		return c.scope.loads || !c.has("v", "--invert-match") && !secretName.MatchString(strings.Join(c.operands(), " "))
	case "awk", "cut", "sed":
		if namesOnly(append([]string{c.name}, c.args...)) {
			return true
		}
	}
	return c.scope.loads || slices.ContainsFunc(c.next, namesOnly) || c.outFile == "/dev/null"
}

// namesOnly is a filter that leaves no values.
func namesOnly(w []string) bool {
	if len(w) == 0 {
		return false
	}
	words := strings.Join(w, " ")
	switch w[0] {
	case "wc", "sha256sum", "md5sum", "shasum", "true":
		return true
	case "cut":
		return strings.Contains(words, "-f1") || strings.Contains(words, "-f 1")
	case "sed":
		return strings.Contains(words, "=.*")
	case "awk":
		return strings.Contains(words, "-F=") && strings.Contains(words, "$1}") || strings.Contains(words, "print $1")
	case "grep":
		return strings.Contains(words, "-c") || strings.Contains(words, "-q") || strings.Contains(words, "-l") || strings.Contains(words, "-o ")
	}
	return false
}

// dumps judges commands that show secrets without reading a file by name.
func (j *judge) dumps(c *call) {
	words := " " + strings.Join(c.args, " ") + " "
	switch c.name {
	case "env", "printenv", "set", "export", "declare":
		j.wholeEnvironment(c)
	case "grep", "rg":
		if c.in.secret == "the environment" && secretName.MatchString(words) && !c.has("qc", "--count") && !slices.ContainsFunc(c.next, namesOnly) {
			j.report(CredentialExposure, "env | "+c.String())
		}
	default:
		if shows, ok := vaults[c.name]; ok && shows.MatchString(words) {
			j.report(CredentialExposure, c.String())
		}
		if shows, ok := tokens[c.name]; ok && shows.MatchString(words) && c.seen() {
			j.report(CredentialExposure, c.String())
		}
	}
}

// vaults are the words that make a keeper of secrets show them.
var vaults = map[string]*pattern.Pattern{
	"gpg":      pattern.Of(`--export-secret`),
	"security": pattern.Of(`find-generic-password|find-internet-password|dump-keychain`),
	"git":      pattern.Of(` credential fill `),
	"kubectl":  kubeSecret,
	"aws":      pattern.Of(` get-secret-value |--with-decryption`),
}

// tokens are the words that make a client show what it logs in with. It is
// made to hand that on, so only what the agent itself would see is a leak.
var tokens = map[string]*pattern.Pattern{
	"gh":     pattern.Of(`^ auth token |^ auth status .*(?:-t|--show-token)\b`),
	"gcloud": pattern.Of(`^ auth (?:application-default )?print-(?:access|identity)-token `),
	"vault":  pattern.Of(`^ (?:kv get|read|print token) `),
	"heroku": pattern.Of(`^ (?:config |auth:token )`),
	"op":     pattern.Of(`^ read `),
	"pass":   pattern.Of(`^ show `),
}

var (
	kubeSecret = pattern.Of(` get secrets? .*(?:-o ?|--output[= ])(?:(?:yaml|json) |go-template|jsonpath\S*\bdata\b)`)
	secretName = pattern.Of(`(?i)secret|token|passw|api_?key|private_?key|credential|\bkey\b|_key\b`)
)

func (j *judge) wholeEnvironment(c *call) {
	bare := len(c.args) == 0 && c.name != "export" && c.name != "declare"
	plain := bare || len(c.args) == 1 && (c.args[0] == "-p" || c.args[0] == "-0")
	if !plain || c.toFile || c.scope.loads {
		return
	}
	if c.name == "set" && len(c.next) == 0 || slices.ContainsFunc(c.next, picks) {
		return
	}
	j.reportInstead(CredentialExposure, c.String()+" prints the whole environment", "`printenv NAME` for what is needed, or `env | cut -d= -f1` for the names")
}

// seen: what a command prints reaches the agent's eyes.
func (c *call) seen() bool {
	return !c.toFile && !c.scope.loads && !c.scope.word && !slices.ContainsFunc(c.next, picks)
}

// picks is a stage of a pipe that does not show all that comes in.
func picks(w []string) bool {
	return len(w) == 0 || namesOnly(w) || !slices.Contains([]string{"sort", "cat", "less", "head", "tail", "more", "tee", "base64"}, w[0])
}

// hunts judges a search for keys all over the machine.
func (j *judge) hunts(c *call, s search) {
	for _, from := range s.from {
		a := j.where(j.resolve(from, c.scope))
		if a != root && a != home {
			continue
		}
		for _, n := range s.names {
			if j.secretFile("x/"+strings.Trim(n, "*"), c.scope) != "" || strings.Contains(n, "id_rsa") || strings.HasSuffix(n, ".pem") {
				j.report(CredentialExposure, "looking for "+n+" in "+from)
			}
		}
	}
}
