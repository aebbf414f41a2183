package guard

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// wrappers are commands that run another one: how many words of their own come
// first, which of their flags have a value, or what the first word has to be.
var wrappers = map[string]string{
	"nohup": "", "setsid": "", "builtin": "", "unbuffer": "", "busybox": "", "exec": "a", "command": "", "time": "of", "nice": "n",
	"ionice": "cnp", "stdbuf": "ioe", "timeout": "1ks", "gtimeout": "1ks", "env": "uC", "flock": "1w", "caffeinate": "tw",
	"watch": "n", "sudo": "ughpCrtTUD", "doas": "uC", "runuser": "ugG", "parallel": "jSa", "xargs": "IdEnPLsa", "npx": "p",
	"bunx": "", "pnpx": "", "uvx": "", "strace": "oepPsuE", "dotenv": "ef", "cross-env": "", "rtk": "",
	"npm": "> exec x", "pnpm": "> exec dlx", "yarn": "> exec dlx", "bun": "> x", "bundle": "> exec", "mise": "> exec x",
	"heroku": "> run", "railway": "> run", "uv": "> run", "poetry": "> run", "pipenv": "> run", "pdm": "> run", "doppler": "> run", "direnv": "> exec",
}

// unwrap judges the command inside a command, and returns what it prints. It is
// not ok if the outer command has to be judged as well.
func (j *judge) unwrap(c *call) (out string, ok bool) {
	ops := c.operands("-i", "-p", "-l", "-o", "-F", "-J", "-L", "-R", "-D") // of ssh
	inner := c.scope.sub()
	switch c.name {
	case "eval":
		return j.script(strings.Join(c.args, " "), c.scope, c.in), true
	case "trap":
		return j.script(c.first(), inner, ""), true
	case "su":
		out = j.script(strings.Join(c.values("-c", "--command"), "\n"), inner, "")
		c.args = c.operands("-c", "--command")
	case "ssh":
		inner.dir, inner.far = "", true
		out = j.script(cmp.Or(strings.Join(ops[min(1, len(ops)):], " "), c.in), inner, c.in)
	case "docker", "podman", "kubectl", "oc", "docker-compose", "nerdctl":
		out = j.contained(c, inner)
	case "source", ".":
		return j.file(c, c.args), true
	case "sh", "bash", "zsh", "dash", "ksh", "ash", "fish":
		return j.shell(c, inner)
	}
	valued, wraps := wrappers[c.name]
	inside := peel(c.args, valued)
	if strings.HasPrefix(valued, ">") {
		wraps = len(inside) > 0 && among(valued[1:], inside[0])
		inside = peel(inside[min(1, len(inside)):], "")
	}
	if c.name == "xargs" || c.name == "parallel" {
		inside, c.in = c.fed(inside), ""
	}
	// env alone shows the environment, and sudo -i is a shell.
	if !wraps || len(inside) == 0 || c.name == "command" && (c.has("-v") || c.has("-V")) {
		return out, false
	}
	r := *c
	r.env = c.env + " " + c.String()
	out = j.run(inside, r)
	if user := append(c.values("-u", "--user"), "root")[0]; user == "root" && among("sudo doas", c.name) {
		r.name, r.args = program(inside[0]), inside[1:]
		if _, ok := j.lookUp(&r, string(asRoot)); !ok {
			j.report(PrivilegeEscalation, shown(c.String(), 80)+" runs as root", "")
		}
	}
	return out, true
}

func peel(args []string, valued string) []string {
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

// fed is the command that xargs makes with what comes in.
func (c *call) fed(inner []string) []string {
	items := strings.Fields(cmp.Or(c.in, nothing))
	i := slices.Index(inner, append(c.values("-I"), "{}")[0])
	if i < 0 {
		i, inner = len(inner), append(slices.Clip(inner), "")
	}
	return slices.Concat(inner[:i], items[:min(len(items), maxWords)], inner[i+1:])
}

// narrowing are the conditions of find with which it does not find everything.
const narrowing = "-name -iname -path -ipath -wholename -regex -iregex -mtime -mmin -atime -ctime -newer -size -user -perm -inum -empty"

// find judges find -delete and find -exec, and returns what it would print.
func (j *judge) find(c *call) string {
	from := "."
	if len(c.args) > 0 && !strings.HasPrefix(c.args[0], "-") && !strings.ContainsAny(c.args[0], "(!") {
		from = strings.TrimSuffix(c.args[0], "/")
	}
	narrow := slices.ContainsFunc(c.args, func(a string) bool { return among(narrowing, a) }) && !slices.Contains(c.args, "*")
	found := from + "/*"
	if narrow && !j.in("root|home|system|log|outside", from+"/", c.scope) {
		found = from + "/" + nothing
	}
	for i, a := range c.args {
		switch a {
		case "-delete":
			j.run([]string{"rm", "-r", found}, call{scope: c.scope})
		case "-exec", "-execdir", "-ok":
			inner := strings.Split(strings.ReplaceAll(strings.Join(c.args[i+1:], "\x00"), "{}", found), "\x00")
			end := slices.IndexFunc(inner, func(w string) bool { return w == ";" || w == "+" })
			j.run(inner[:max(end, 0)], call{scope: c.scope})
		}
	}
	return found
}

// contained judges what is run in a container, if it is worth a look there.
func (j *judge) contained(c *call, inner *scope) string {
	inner.container = true
	i := slices.IndexFunc(c.args, func(a string) bool { return a == "exec" || a == "run" })
	for k := i + 1; i >= 0 && k < len(c.args); k++ {
		if among("sh bash env printenv cat psql mysql mysqladmin mariadb mongo mongosh redis-cli dropdb sqlite3 rails rake bundle php artisan python python3 manage.py npx prisma cqlsh", path.Base(c.args[k])) {
			return j.run(c.args[k:], call{scope: inner, in: c.in})
		}
	}
	return ""
}

// shell judges sh with its script: given, in a file, or coming in.
func (j *judge) shell(c *call, inner *scope) (string, bool) {
	ops := c.operands("-o", "+o", "-O", "--rcfile", "--init-file")
	if scripts := c.values("-c"); len(scripts) > 0 {
		return j.script(scripts[0], inner, c.in), true
	}
	switch {
	case c.has("-n"): // only parsed
		return "", true
	case len(ops) > 0 && ops[0] != "-" && !c.has("-s"):
		return j.file(c, c.args[slices.Index(c.args, ops[0]):]), true
	}
	return j.script(c.in, inner, ""), c.in != "" // "sh -i" is connected to something
}

// file judges a script in a file, by its text or as a program of its name.
func (j *judge) file(c *call, words []string) string {
	if len(words) == 0 {
		return ""
	}
	text, known := j.files[j.known(words[0], c.scope)]
	first, _, _ := strings.Cut(text, "\n")
	switch j.origin(text, words[0]); {
	case words[0] == "/dev/stdin":
		return j.script(c.in, c.scope.sub(), "")
	case known && strings.HasPrefix(first, "#!") && !strings.Contains(first, "sh"):
		return ""
	case known:
		return j.script(text, c.scope.sub(), c.in)
	}
	in := *c
	in.name, in.args = program(words[0]), words[1:]
	j.rules(&in)
	return ""
}

func (j *judge) origin(text, by string) {
	if strings.Contains(text, dark+string(fetched)) {
		j.report(SupplyChain, "running "+by+" as it came from the network", "")
	}
	if strings.Contains(text, dark+string(decoded)) {
		j.report(ObfuscatedExecution, "running what was decoded ("+by+")", "")
	}
}

// languages are the flags that programs take code with.
var languages = map[string]string{
	"python": "-c", "python3": "-c", "perl": "-e -E", "ruby": "-e", "node": "-e --eval -p --print", "php": "-r", "bun": "-e",
}

// Code in other languages is judged by its calls with literal arguments.
var (
	dangers = []struct {
		category Category
		what     string
		code     *pattern.Pattern
	}{
		{RemoteAccess, "gives a shell to a socket", pattern.Of(`(?is)(?:socket|fsockopen|net\.connect|PF_INET).*(?:dup2|pty\.spawn|/bin/(?:ba)?sh|cmd\.exe)`)},
		{ResourceExhaustion, "forks without end", pattern.Of(`(?s)\bfork\s+while\b|\bwhile\s*\(?\s*(?:1|True)\s*\)?\s*[:{]?\s*.{0,20}\bfork\b`)},
		{SupplyChain, "runs what comes from the network", pattern.Of(`(?s)\b(?:exec|eval)\s*\(.{0,80}(?:urlopen|requests\.get|https?://|fetch\()`)},
		{ObfuscatedExecution, "runs what was decoded", pattern.Of(`(?s)\b(?:exec|eval|system|popen|run|call|check_output)\s*\(?.{0,60}(?:base64|b64decode|\bpack\s*\(?\s*["']H|fromhex|unhexlify|atob\(|marshal\.loads)`)},
		{PrivilegeEscalation, "becomes root", pattern.Of(`\bsetuid\(0\)`)},
		{CredentialExposure, "prints the whole environment or a key", pattern.Of(`\b(?:print|console\.log|puts)\s*\(?\s*(?:dict\(|JSON\.stringify\()?\s*(?:os\.environ|process\.env|ENV\.to_h)\s*[,)]|^\s*process\.env\s*$|(?:readFileSync|open)\(["'](?:[^"']*/)?\.env["']|["'](?:/etc/shadow|[^"']*/\.ssh/id_\w+|[^"']*/\.aws/credentials)["']`)},
		{DatabaseDestruction, "drops tables", pattern.Of(`(?i)\b(?:query|execute\w*|raw)\s*\(\s*[frb]?["'\x60]+\s*(?:drop\s+(?:table|database|schema)|truncate)\b`)},
		{FileDestruction, "deletes the home", pattern.Of(`\b(?:rmtree|rmSync|rm_rf|fs\.rm)\s*\(\s*(?:Path\.home\(\)|\w*\.?homedir\(\)|os\.environ\[["']HOME["']\]|process\.env\.HOME|Dir\.home)\s*[,)]`)},
	}
	runsShell = pattern.Of("\\b(?:os\\.system|os\\.popen|subprocess\\.\\w+|execSync|exec|spawnSync|spawn|system|popen|shell_exec|execFileSync)\\s*\\(?\\s*[\\[(]?\\s*(\"(?:[^\"\\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\\n]|\\\\.)*')((?:\\s*,\\s*\\[?\\s*(?:\"[^\"\\n]*\"|'[^'\\n]*'))*)")
	listed    = pattern.Of(`"[^"\n]*"|'[^'\n]*'`)
	rewrites  = pattern.Of(`\bopen\(\s*["']([^"'\n]+)["']\s*,\s*["'][rb]*[wax+]|\b(?:writeFileSync|appendFileSync|File\.write)\(\s*["']([^"'\n]+)["']|\bPath\(["']([^"'\n]+)["']\)\.write_`)
	removes   = pattern.Of(`\b(?:rmtree|remove_tree|rmSync|rmdirSync|rm_rf|rm_r|rimraf(?:\.sync)?|removeSync|emptyDirSync|fs\.rm)\s*\(?\s*(?:Path\()?(?:os\.path\.expanduser\()?\s*["']([^"'\n]+)["']`)
)

func (j *judge) code(c *call) {
	flags, ok := languages[c.name]
	if !ok {
		return
	}
	src, ops := c.values(strings.Fields(flags)...), c.operands()
	if len(src) == 0 && len(ops) > 0 && ops[0] != "-" { // a file, or a module behind -m
		j.file(c, c.args[slices.Index(c.args, ops[0]):])
		return
	}
	for _, text := range append(src, c.in)[:max(1, len(src))] {
		j.origin(text, c.name)
		j.program(text[:min(len(text), maxLine)], c)
	}
}

func (j *judge) program(src string, c *call) {
	for _, d := range dangers {
		if d.code.MatchString(src) {
			j.report(d.category, c.name+" "+d.what, "")
		}
	}
	for _, m := range rewrites.FindAllStringSubmatch(src, 20) {
		j.writes(m[1]+m[2]+m[3], c.scope)
	}
	for _, m := range removes.FindAllStringSubmatch(src, 20) {
		j.run([]string{"rm", "-r", m[1]}, call{scope: c.scope})
	}
	for _, m := range runsShell.FindAllStringSubmatch(src, 20) {
		line := strings.NewReplacer(`\"`, `"`, `\'`, `'`, `\\`, `\`).Replace(m[1][1 : len(m[1])-1])
		j.script(line+" "+strings.Join(listed.FindAllString(m[2], 40), " "), c.scope.sub(), "")
	}
}

var (
	dropping = pattern.Of("(?is)\\b(drop\\s+(?:database|schema|table|user|role|keyspace)|truncate(?:\\s+table)?|delete\\s+from|update|alter\\s+table\\s+\\S+\\s+drop\\s+(?:column|partition))\\s+(?:if\\s+exists\\s+)?(?:only\\s+)?[\"'`\\[]?([\\w.$\uE000\uE001-]+)([^;]*)")
	sets     = pattern.Of(`(?i)^[^;]{0,80}\bset\b`)
)

// sqlLoss says that a statement loses data, and of nothing that is named as a
// test.
func sqlLoss(sql string) bool {
	return slices.ContainsFunc(dropping.FindAllStringSubmatch(sql, 20), func(m []string) bool {
		verb, name, rest := strings.ToLower(m[1]), m[2], strings.ToLower(m[3])
		narrow := (verb == "update" || strings.HasPrefix(verb, "delete")) && strings.Contains(rest, "where")
		return !narrow && !trial.MatchString(name) && (verb != "update" || sets.MatchString(rest))
	})
}
