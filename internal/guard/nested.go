package guard

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// wrappers are commands that run another command. A value has the number of their
// own words, the letters of their flags with a value, or after > the subcommands
// that run a command.
var wrappers = map[string]string{
	"nohup": "", "setsid": "", "builtin": "", "unbuffer": "", "busybox": "", "exec": "a", "command": "", "time": "of", "nice": "n",
	"ionice": "cnp", "stdbuf": "ioe", "timeout": "1ks", "gtimeout": "1ks", "env": "uC", "flock": "1w", "caffeinate": "tw",
	"watch": "n", "sudo": "ughpCrtTUD", "doas": "uC", "runuser": "ugG", "parallel": "jSa", "xargs": "IdEnPLsa", "npx": "p",
	"bunx": "", "pnpx": "", "uvx": "", "strace": "oepPsuE", "dotenv": "ef", "cross-env": "", "rtk": "",
	"npm": "> exec x", "pnpm": "> exec dlx", "yarn": "> exec dlx", "bun": "> x", "bundle": "> exec", "mise": "> exec x",
	"heroku": "> run", "railway": "> run", "uv": "> run", "poetry": "> run", "pipenv": "> run", "pdm": "> run", "doppler": "> run", "direnv": "> exec",
}

// unwrap returns ok if the outer command needs no judging.
func (j *judge) unwrap(c *call) (out string, ok bool) {
	ops := c.operands("-i", "-p", "-l", "-o", "-F", "-J", "-L", "-R", "-D") // of ssh
	inner := c.scope.child()
	switch c.name {
	case "eval":
		return j.script(strings.Join(c.args, " "), c.scope, c.stdin), true
	case "trap":
		return j.script(c.first(), inner, ""), true
	case "su":
		out = j.script(strings.Join(c.values("-c", "--command"), "\n"), inner, "")
		c.args = c.operands("-c", "--command")
	case "ssh":
		inner.dir = ""
		out = j.script(cmp.Or(strings.Join(ops[min(1, len(ops)):], " "), c.stdin), inner, c.stdin)
	case "docker", "podman", "kubectl", "oc", "docker-compose", "nerdctl":
		out = j.containerCommand(c, inner)
	case "source", ".":
		return j.scriptFile(c, c.args), true
	case "sh", "bash", "zsh", "dash", "ksh", "ash", "fish":
		return j.shell(c, inner)
	}
	valued, wraps := wrappers[c.name]
	inside := innerWords(c.args, valued)
	if strings.HasPrefix(valued, ">") {
		wraps = len(inside) > 0 && isInList(valued[1:], inside[0])
		inside = innerWords(inside[min(1, len(inside)):], "")
	}
	if c.name == "xargs" || c.name == "parallel" {
		inside, c.stdin = c.xargsWords(inside), ""
	}
	// Without a command, env shows the environment, and sudo -i starts a shell.
	if !wraps || len(inside) == 0 || c.name == "command" && (c.has("-v") || c.has("-V")) {
		return out, false
	}
	r := *c
	r.env = c.env + " " + c.String()
	out = j.words(inside, r)
	if user := append(c.values("-u", "--user"), "root")[0]; user == "root" && isInList("sudo doas", c.name) {
		r.name, r.args = programName(inside[0]), inside[1:]
		if _, ok := j.lookUp(&r, rootAllowed.Name); !ok {
			j.report(PrivilegeEscalation, displayText(c.String(), 80)+" runs as root", "")
		}
	}
	return out, true
}

func innerWords(args []string, valued string) []string {
	own := strings.HasPrefix(valued, "1")
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, _, assigns := strings.Cut(a, "=")
		switch {
		case a == "--":
			return args[i+1:]
		case len(a) > 1 && a[0] == '-':
			if len(a) == 2 && strings.Contains(valued, a[1:]) {
				i++
			}
		case assigns && !strings.ContainsAny(name, "/ .-"):
		case own:
			own = false
		default:
			return args[i:]
		}
	}
	return nil
}

func (c *call) xargsWords(inner []string) []string {
	items := strings.Fields(cmp.Or(c.stdin, unknownText))
	i := slices.Index(inner, append(c.values("-I"), "{}")[0])
	if i < 0 {
		i, inner = len(inner), append(slices.Clip(inner), "")
	}
	return slices.Concat(inner[:i], items[:min(len(items), maxWords)], inner[i+1:])
}

const findConditions = "-name -iname -path -ipath -wholename -regex -iregex -mtime -mmin -atime -ctime -newer -size -user -perm -inum -empty"

func (j *judge) find(c *call) string {
	from := "."
	if len(c.args) > 0 && !strings.HasPrefix(c.args[0], "-") && !strings.ContainsAny(c.args[0], "(!") {
		from = strings.TrimSuffix(c.args[0], "/")
	}
	narrow := slices.ContainsFunc(c.args, func(a string) bool { return isInList(findConditions, a) }) && !slices.Contains(c.args, "*")
	found := from + "/*"
	if narrow && !j.isInArea("root|home|system|log|outside", from+"/", c.scope) {
		found = from + "/" + unknownText
	}
	for i, a := range c.args {
		switch a {
		case "-delete":
			j.words([]string{"rm", "-r", found}, call{scope: c.scope})
		case "-exec", "-execdir", "-ok":
			inner := strings.Split(strings.ReplaceAll(strings.Join(c.args[i+1:], "\x00"), "{}", found), "\x00")
			end := slices.IndexFunc(inner, func(w string) bool { return w == ";" || w == "+" })
			j.words(inner[:max(end, 0)], call{scope: c.scope})
		}
	}
	return found
}

// containerCommand judges a command in a container if it can reach other machines.
func (j *judge) containerCommand(c *call, inner *scope) string {
	inner.inContainer = true
	i := slices.IndexFunc(c.args, func(a string) bool { return a == "exec" || a == "run" })
	for k := i + 1; i >= 0 && k < len(c.args); k++ {
		if isInList("sh bash env printenv cat psql mysql mysqladmin mariadb mongo mongosh redis-cli dropdb sqlite3 rails rake bundle php artisan python python3 manage.py npx prisma cqlsh", path.Base(c.args[k])) {
			return j.words(c.args[k:], call{scope: inner, stdin: c.stdin})
		}
	}
	return ""
}

func (j *judge) shell(c *call, inner *scope) (string, bool) {
	ops := c.operands("-o", "+o", "-O", "--rcfile", "--init-file")
	if scripts := c.values("-c"); len(scripts) > 0 {
		return j.script(scripts[0], inner, c.stdin), true
	}
	switch {
	case c.has("-n"): // only parsed
		return "", true
	case len(ops) > 0 && ops[0] != "-" && !c.has("-s"):
		return j.scriptFile(c, c.args[slices.Index(c.args, ops[0]):]), true
	}
	return j.script(c.stdin, inner, ""), c.stdin != "" // otherwise stdin is unknown
}

func (j *judge) scriptFile(c *call, words []string) string {
	if len(words) == 0 {
		return ""
	}
	text, known := j.files[j.fileKey(words[0], c.scope)]
	first, _, _ := strings.Cut(text, "\n")
	switch j.reportOrigin(text, words[0]); {
	case known && strings.HasPrefix(first, "#!") && !strings.Contains(first, "sh"):
		return ""
	case known:
		return j.script(text, c.scope.child(), c.stdin)
	}
	in := *c
	in.name, in.args = programName(words[0]), words[1:]
	j.checkRules(&in)
	return ""
}

func (j *judge) reportOrigin(text, by string) {
	if strings.Contains(text, markStart+fetchedOutput.Name) {
		j.report(SupplyChain, "running "+by+" as it came from the network", "")
	}
	if strings.Contains(text, markStart+decodedOutput.Name) {
		j.report(ObfuscatedExecution, "running what was decoded ("+by+")", "")
	}
}

var codeFlags = map[string]string{
	"python": "-c", "python3": "-c", "perl": "-e -E", "ruby": "-e", "node": "-e --eval -p --print", "php": "-r", "bun": "-e",
}

// Code of other languages is judged by calls with literal arguments.
var (
	dangerousCode = []struct {
		category Category
		what     string
		code     *pattern.Pattern
	}{
		{CredentialExposure, "prints the whole environment or a key", pattern.Of(`\b(?:print|console\.log|puts)\s*\(?\s*(?:dict\(|JSON\.stringify\()?\s*(?:os\.environ|process\.env|ENV\.to_h)\s*[,)]|^\s*process\.env\s*$|(?:readFileSync|open)\(["'](?:[^"']*/)?\.env["']|["'](?:/etc/shadow|[^"']*/\.ssh/id_\w+|[^"']*/\.aws/credentials)["']`)},
		{DatabaseDestruction, "drops tables", pattern.Of(`(?i)\b(?:query|execute\w*|raw)\s*\(\s*[frb]?["'\x60]+\s*(?:drop\s+(?:table|database|schema)|truncate)\b`)},
		{FileDestruction, "deletes the home", pattern.Of(`\b(?:rmtree|rmSync|rm_rf|fs\.rm)\s*\(\s*(?:Path\.home\(\)|\w*\.?homedir\(\)|os\.environ\[["']HOME["']\]|process\.env\.HOME|Dir\.home)\s*[,)]`)},
	}
	shellCall    = pattern.Of("\\b(?:os\\.system|os\\.popen|subprocess\\.\\w+|execSync|exec|spawnSync|spawn|system|popen|shell_exec|execFileSync)\\s*\\(?\\s*[\\[(]?\\s*(\"(?:[^\"\\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\\n]|\\\\.)*')((?:\\s*,\\s*\\[?\\s*(?:\"[^\"\\n]*\"|'[^'\\n]*'))*)")
	quotedString = pattern.Of(`"[^"\n]*"|'[^'\n]*'`)
	fileWrite    = pattern.Of(`\bopen\(\s*["']([^"'\n]+)["']\s*,\s*["'][rb]*[wax+]|\b(?:writeFileSync|appendFileSync|File\.write)\(\s*["']([^"'\n]+)["']|\bPath\(["']([^"'\n]+)["']\)\.write_`)
	fileRemoval  = pattern.Of(`\b(?:rmtree|remove_tree|rmSync|rmdirSync|rm_rf|rm_r|rimraf(?:\.sync)?|removeSync|emptyDirSync|fs\.rm)\s*\(?\s*(?:Path\()?(?:os\.path\.expanduser\()?\s*["']([^"'\n]+)["']`)
)

func (j *judge) interpreter(c *call) {
	flags, ok := codeFlags[c.name]
	if !ok {
		return
	}
	src, ops := c.values(strings.Fields(flags)...), c.operands()
	if len(src) == 0 && len(ops) > 0 && ops[0] != "-" { // a file, or the module of -m
		j.scriptFile(c, c.args[slices.Index(c.args, ops[0]):])
		return
	}
	for _, text := range append(src, c.stdin)[:max(1, len(src))] {
		j.reportOrigin(text, c.name)
		j.foreignCode(text[:min(len(text), maxLine)], c)
	}
}

func (j *judge) foreignCode(src string, c *call) {
	for _, d := range dangerousCode {
		if d.code.MatchString(src) {
			j.report(d.category, c.name+" "+d.what, "")
		}
	}
	for _, m := range fileWrite.FindAllStringSubmatch(src, 20) {
		j.checkWrite(m[1]+m[2]+m[3], c.scope)
	}
	for _, m := range fileRemoval.FindAllStringSubmatch(src, 20) {
		j.words([]string{"rm", "-r", m[1]}, call{scope: c.scope})
	}
	for _, m := range shellCall.FindAllStringSubmatch(src, 20) {
		line := strings.NewReplacer(`\"`, `"`, `\'`, `'`, `\\`, `\`).Replace(m[1][1 : len(m[1])-1])
		j.script(line+" "+strings.Join(quotedString.FindAllString(m[2], 40), " "), c.scope.child(), "")
	}
}

var lossyStatement = pattern.Of("(?is)\\b(drop\\s+(?:database|schema|table|user|role|keyspace)|truncate(?:\\s+table)?|delete\\s+from|update|alter\\s+table\\s+\\S+\\s+drop\\s+(?:column|partition))\\s+(?:if\\s+exists\\s+)?(?:only\\s+)?[\"'`\\[]?([\\w.$\uE000\uE001-]+)([^;]*)")

// sqlLoss ignores tables and databases that are named as a test.
func sqlLoss(sql string) bool {
	return slices.ContainsFunc(lossyStatement.FindAllStringSubmatch(sql, 20), func(m []string) bool {
		verb, name, rest := strings.ToLower(m[1]), m[2], strings.ToLower(m[3])
		narrow := (verb == "update" || strings.HasPrefix(verb, "delete")) && strings.Contains(rest, "where")
		return !narrow && !testName.MatchString(name)
	})
}
