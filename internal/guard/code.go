package guard

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// What code in another language does is told by the calls in it that have
// literal arguments. That is all: nothing is parsed here.
var (
	runsShell  = pattern.Of("\\b(?:os\\.system|os\\.popen|subprocess\\.\\w+|execSync|exec|spawnSync|spawn|system|popen|shell_exec|passthru|execFileSync|qx)\\s*\\(?\\s*[\\[(]?\\s*(?:\"((?:[^\"\\\\\\n]|\\\\.)*)\"|'((?:[^'\\\\\\n]|\\\\.)*)')((?:\\s*,\\s*\\[?\\s*(?:\"[^\"\\n]*\"|'[^'\\n]*'))*)")
	backticks  = pattern.Of("`([^`\\n]+)`")
	removes    = pattern.Of(`\b(?:shutil\.rmtree|rmtree|remove_tree|rmSync|rmdirSync|rm_rf|rm_r|rimraf(?:\.sync)?|removeSync|emptyDirSync|fs\.rm|fs\.rmdir|FileUtils\.\w*rm\w*)\s*\(?\s*(?:Path\()?(?:os\.path\.expanduser\()?\s*["']([^"'\n]+)["']`)
	removeHome = pattern.Of(`\b(?:rmtree|rmSync|rm_rf|fs\.rm)\s*\(\s*(?:Path\.home\(\)|os\.homedir\(\)|os\.environ\[["']HOME["']\]|process\.env\.HOME|Dir\.home|require\(["']os["']\)\.homedir\(\))\s*[,)]`)
	opens      = pattern.Of(`\b(?:open|readFileSync|readFile|writeFileSync|appendFileSync|File\.read|File\.write|Path|file_get_contents|expanduser)\s*\(\s*["']([^"'\n]+)["'](?:\s*\)?\s*,\s*["']([rwab+x]+)["'])?`)
	reverse    = pattern.Of(`(?s)(?i)(?:socket|TCPSocket|fsockopen|net\.(?:connect|socket|createConnection)|PF_INET).*(?:dup2|pty\.spawn|/bin/(?:ba)?sh|subprocess|exec|cmd\.exe)`)
	forks      = pattern.Of(`(?s)\bfork\s+while\b|\bwhile\s*\(?\s*(?:1|True|true)\s*\)?\s*[:{;]?\s*(?:do)?\s*(?:os\.)?fork\b|loop\s*\{\s*fork`)
	decodeRun  = pattern.Of(`(?s)\b(?:exec|eval|system|popen|run|call|check_output)\s*\(?.{0,60}(?:b64decode|\bpack\s*\(?\s*["']H|base64|fromhex|unhexlify|atob\(|Buffer\.from\(|zlib\.decompress|marshal\.loads|codecs\.decode)`)
	fetchRun   = pattern.Of(`(?s)\b(?:exec|eval)\s*\(.{0,80}(?:urlopen|requests\.get|https?://|fetch\()`)
	writesMode = pattern.Of(`[wax+]`)
	allEnv     = pattern.Of(`\b(?:print|pprint|console\.log|puts|p)\s*\(?\s*(?:dict\(|JSON\.stringify\(|json\.dumps\(dict\()?\s*(?:os\.environ|process\.env|ENV\.to_h)\s*[,)]|^\s*process\.env\s*$`)
	setsRoot   = pattern.Of(`\bos\.setuid\(0\)|POSIX::setuid\(0\)|Process::Sys\.setuid\(0\)`)
)

var languages = map[string][]string{
	"python": {"-c"}, "python3": {"-c"}, "python2": {"-c"}, "perl": {"-e", "-E"}, "ruby": {"-e"}, "node": {"-e", "--eval", "-p", "--print"},
	"php": {"-r"}, "deno": {"eval"}, "bun": {"-e"}, "lua": {"-e"},
}

// code judges a program in another language that stands on the command line
// or comes in by a here-document.
func (j *judge) code(c *call) {
	flags, ok := languages[c.name]
	if !ok {
		return
	}
	src := c.values(flags...)
	for _, a := range c.args { // perl -ne '…', perl -Mx -e
		if c.name == "perl" && len(a) > 2 && a[0] == '-' && a[1] != '-' && strings.HasSuffix(a, "e") {
			src = append(src, c.values(a)...)
		}
	}
	if len(src) > 0 {
		j.origin(c.subs, c.name+" "+flags[0])
	} else {
		src = j.codeFrom(c, flags)
	}
	for _, s := range src {
		j.program(s[:min(len(s), maxLine)], c)
	}
}

// codeFrom is the program where none was given: it comes in, or is a file.
func (j *judge) codeFrom(c *call, flags []string) []string {
	if ops := c.operands(flags...); len(ops) > 0 && ops[0] != "-" {
		if j.fetched[j.resolve(ops[0], c.scope)] {
			j.report(SupplyChain, "running "+ops[0]+" as it came from the network")
		}
		return nil
	}
	if !slices.Contains(c.args, "-m") && !slices.Contains(c.args, "--version") {
		j.origin(c.in, c.name)
	}
	if c.in.known {
		return []string{c.in.text}
	}
	return nil
}

// program judges the text of one.
func (j *judge) program(src string, c *call) {
	switch {
	case reverse.MatchString(src) && strings.Contains(src, "onnect") && shellIn.MatchString(src), (strings.Contains(src, "TCPSocket") || strings.Contains(src, "fsockopen")) && shellIn.MatchString(src):
		j.report(RemoteAccess, c.name+" giving a shell to a socket")
	case forks.MatchString(src):
		j.report(ResourceExhaustion, "fork bomb in "+c.name)
	case fetchRun.MatchString(src):
		j.report(SupplyChain, c.name+" running what comes from the network")
	case decodeRun.MatchString(src):
		j.report(ObfuscatedExecution, c.name+" running what was decoded")
	case setsRoot.MatchString(src):
		j.report(PrivilegeEscalation, c.name+": "+setsRoot.FindString(src))
	case allEnv.MatchString(src):
		j.report(CredentialExposure, c.name+" printing the whole environment")
	case removeHome.MatchString(src):
		j.report(FileDestruction, c.name+": "+removeHome.FindString(src))
	}
	for _, m := range removes.FindAllStringSubmatch(src, 20) {
		j.removal(m[1], c.scope, true)
	}
	for _, m := range opens.FindAllStringSubmatch(src, 40) {
		j.opened(m[0], m[1], m[2], c)
	}
	for _, m := range runsShell.FindAllStringSubmatch(src, 20) {
		first := slashed(m[1] + m[2])
		rest := listed.FindAllString(m[3], 40)
		j.script(strings.TrimSpace(first+" "+strings.Join(rest, " ")), c.scope.sub(), stream{})
	}
	if c.name == "perl" || c.name == "ruby" || c.name == "php" {
		for _, m := range backticks.FindAllStringSubmatch(src, 10) {
			j.script(m[1], c.scope.sub(), stream{})
		}
	}
}

var (
	shellIn = pattern.Of(`/bin/(?:ba|z|da)?sh|\bdup2\b|pty\.spawn|cmd\.exe|subprocess|["'](?:ba)?sh["']`)
	listed  = pattern.Of(`"[^"\n]*"|'[^'\n]*'`)
	slashes = strings.NewReplacer(`\"`, `"`, `\'`, `'`, `\\`, `\`)
)

func slashed(s string) string { return slashes.Replace(s) }

func (j *judge) opened(text, name, mode string, c *call) {
	if writesMode.MatchString(mode) || strings.Contains(text, "writeFile") || strings.Contains(text, "appendFile") || strings.Contains(text, "File.write") {
		j.writes(name, c.scope)
		return
	}
	if what := j.secretFile(name, c.scope); what != "" && !dotEnv.MatchString(name) {
		j.report(CredentialExposure, c.name+" reading "+what)
	}
}
