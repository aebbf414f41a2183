package guard

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// Category is a family of dangerous commands; docs/guard.md describes them.
type Category struct {
	Name    string
	Instead string // what to do instead
}

// The categories. ProjectRule is for the project's own rules.
var (
	FileDestruction     = Category{"file-destruction", "delete the named files inside the project that you mean"}
	DiskDestruction     = Category{"disk-destruction", "work on an image file inside the project"}
	ResourceExhaustion  = Category{"resource-exhaustion", "bound it: a count, a size, a timeout"}
	DataExfiltration    = Category{"data-exfiltration", "send only what the task needs, to localhost or the project's own service"}
	RemoteAccess        = Category{"remote-access", "talk to localhost; leave tunnels to the user"}
	CredentialExposure  = Category{"credential-exposure", "check that it exists without printing it (`printenv NAME >/dev/null`), or read .env.example"}
	PrivilegeEscalation = Category{"privilege-escalation", "do it without root, inside the project, or ask the user to run it"}
	ContainerEscape     = Category{"container-escape", "mount only the project, name the containers that you mean"}
	SupplyChain         = Category{"supply-chain", "download it, read it, pin it; use the package manager"}
	GitDestruction      = Category{"git-destruction", "commit or `git stash` first; undo single files; `git push --force-with-lease` on your own branch"}
	SystemConfiguration = Category{"system-configuration", "keep the change inside the project or a container, or ask the user"}
	ObfuscatedExecution = Category{"obfuscated-execution", "write the command out plainly"}
	EnvironmentTamper   = Category{"environment-tampering", "set the variable for one command, to a path in the project"}
	ProcessManipulation = Category{"process-manipulation", "end the one process that you started, by its id (`kill $PID`) or its port"}
	Persistence         = Category{"persistence", "keep it in the project's own scripts, or ask the user"}
	DatabaseDestruction = Category{"database-destruction", "use a database with `test` in its name, a WHERE, or a migration"}
	CloudDestruction    = Category{"cloud-destruction", "show the plan (`plan`, `--dry-run`, `get`) and leave it to the user"}
	ProtectedPath       = Category{"protected-path", "write inside the project, to files that are not protected"}
	Deployment          = Category{"deployment", "use `--dry-run`, a preview or staging, and leave production to the user"}
	ProjectRule         = Category{"project-rule", "ask the user"}
)

// Rule matches commands that the guard refuses, by one of each list that is not empty.
type Rule struct {
	// Program and the words after it; a bar separates alternatives, ** matches any words.
	Command string `json:"command" jsonschema:"required,pattern=\\S,example=make deploy"`
	// Match only if one of these flags is given, such as -f or -X=DELETE.
	Flags []string `json:"flags,omitzero" jsonschema:"pattern=^\\S+$,example=--force"`
	// Match only if an operand matches; * and ? are wildcards, @outside is an area.
	Operands []string `json:"operands,omitzero" jsonschema:"pattern=^\\S+$,example=*prod*"`
	// Do not match if one of these flags or operands is given.
	Unless []string `json:"unless,omitzero" jsonschema:"pattern=^\\S+$,example=--dry-run"`
	// What the command does, shown to the agent.
	Why string `json:"why,omitzero" jsonschema:"pattern=\\S,example=deploys to production"`
	// What the agent should do instead (default: ask the user).
	Instead string `json:"instead,omitzero" jsonschema:"pattern=\\S"`
	// Allow matching commands, even if the guard's own table refuses them.
	Allow bool `json:"allow,omitzero"`

	category Category
}

type ruleGroup struct {
	category Category
	why      string
	instead  string
	rows     []row
}

// row is commands, separated by commas, with their flags, operands and unless.
type row [4]string

// rulesByProgram are the rules by program; those for many programs are under "*".
var rulesByProgram = sync.OnceValue(func() map[string][]Rule {
	all := map[string][]Rule{}
	for _, s := range slices.Concat(rules, outputRules) {
		for _, r := range s.rows {
			for command := range strings.SplitSeq(r[0], ", ") {
				rule := Rule{Command: command, Flags: strings.Fields(r[1]), Operands: strings.Fields(r[2]), Unless: strings.Fields(r[3]), Why: s.why, Instead: s.instead, category: s.category}
				programs, _, _ := strings.Cut(command, " ")
				for program := range strings.SplitSeq(programs, "|") {
					if strings.Contains(program, "*") {
						program = "*"
					}
					all[program] = append(all[program], rule)
				}
			}
		}
	}
	return all
})

// The project's first matching rule decides, then the table.
func (j *judge) checkRules(c *call) {
	i := slices.IndexFunc(j.project.Rules, func(r Rule) bool { return r.matches(j, c) })
	if i < 0 {
		if rule, found := j.lookUp(c, ""); found {
			j.report(rule.category, displayText(c.String(), 80)+" "+rule.Why, rule.Instead)
		}
	} else if own := j.project.Rules[i]; !own.Allow {
		j.report(ProjectRule, displayText(c.String(), 80)+" "+cmp.Or(own.Why, "is refused by the project's settings"), own.Instead)
	}
}

// lookUp finds the first rule that matches a call, of a category or a prefix of
// categories; "" means all that are dangerous. In containers, only those about
// other machines count.
func (j *judge) lookUp(c *call, category string) (Rule, bool) {
	for _, r := range slices.Concat(rulesByProgram()[c.name], rulesByProgram()["*"]) {
		danger := r.category.Name[0] > '?' && (!c.scope.inContainer || slices.Contains([]Category{DatabaseDestruction, CloudDestruction, Deployment}, r.category))
		if (category == "" && danger || category != "" && strings.HasPrefix(r.category.Name, category)) && r.matches(j, c) {
			return r, true
		}
	}
	return Rule{}, false
}

func (r Rule) matches(j *judge, c *call) bool {
	program, words, _ := strings.Cut(r.Command, " ")
	if !matchesAny(program, c.name) || slices.Equal(c.args, []string{"--version"}) {
		return false
	}
	rest, ok := matchWords(strings.Fields(words), c.args)
	if !ok {
		return false
	}
	after := *c
	after.args, after.env = rest, c.env+" "+c.String()
	holds := func(tokens []string) bool {
		return slices.ContainsFunc(tokens, func(t string) bool { return j.matchesToken(t, &after) })
	}
	return (len(r.Flags) == 0 || holds(r.Flags)) && (len(r.Operands) == 0 || holds(r.Operands)) && !holds(r.Unless) && !holds(harmless)
}

var harmless = []string{"--help", "--dry-run", "--dry-run=*", "--dryrun"}

// matchWords reports whether the words come first, with flags between, and returns the other arguments.
func matchWords(words, args []string) (rest []string, ok bool) {
	flag := false
	for i, a := range args {
		switch {
		case len(words) == 0:
			return append(rest, args[i:]...), true
		case words[0] == "**":
			if matchesAny(words[1], a) {
				after, ok := matchWords(words[1:], args[i:])
				return append(rest, after...), ok
			}
		case strings.HasPrefix(a, "-"):
			flag = !strings.Contains(a, "=")
		case matchesAny(words[0], a):
			words, flag = words[1:], false
			continue
		case !flag:
			return nil, false
		default:
			flag = false
		}
		rest = append(rest, a)
	}
	return rest, len(words) == 0
}

// matchesAny: * and ? match slashes, too. Only flags are case-sensitive.
func matchesAny(patterns, s string) bool {
	if !strings.HasPrefix(patterns, "-") {
		patterns, s = strings.ToLower(patterns), strings.ToLower(s)
	}
	s = strings.ReplaceAll(s, "/", "\x00")
	for p := range strings.SplitSeq(strings.ReplaceAll(patterns, "/", "\x00"), "|") {
		if ok, err := path.Match(p, s); p == s || ok && err == nil {
			return true
		}
	}
	return false
}

// matchesToken tells of a token, which is
//
//	-f --force   a flag; a single letter also counts within others, as in -uf
//	-X=DELETE    a flag with that value
//	main *:main  an operand; * and ? are wildcards
//	@outside     an area of paths (see areas), or a condition (see hasCondition)
func (j *judge) matchesToken(token string, c *call) bool {
	name, value, valued := strings.Cut(token, "=")
	switch {
	case token[0] == '@':
		return j.hasCondition(token[1:], c)
	case token[0] != '-': // databases read commands from stdin, too
		return slices.ContainsFunc(append(c.operands(), c.stdin), func(o string) bool { return matchesAny(token, o) })
	case valued:
		return slices.ContainsFunc(c.values(name), func(v string) bool { return matchesAny(value, v) })
	}
	return c.has(token)
}

var (
	testName       = pattern.Of(`(?i)(?:^|[^a-z])(?:tests?|testing|te?mp|ci|scratch|sandbox|throwaway|dummy|e2e|demo|bench)(?:[^a-z]|$)|:memory:`)
	stagingName    = pattern.Of(`(?i)(?:^|[^a-z])(?:tests?|testing|dev|develop|development|stag(?:e|ing)|stg|qa|uat|preview|review|sandbox|demo|local|localhost|minikube|kind|k3[sd]|docker-desktop|orbstack)(?:[^a-z]|$)`)
	productionName = pattern.Of(`(?i)(?:^|[^a-z])(?:prod|production|live|prd)(?:[^a-z]|$)`)
)

// hasCondition also takes an area, in which one of the call's paths has to be.
func (j *judge) hasCondition(condition string, c *call) bool {
	all, name, paths := c.env, condition[1:], c.affected()
	switch {
	case condition == "file": // its output goes to a file
		return c.outputFile != "" && c.outputFile != "/dev/null"
	case condition == "phrase": // a pattern of several words, or with a folder
		return slices.ContainsFunc(c.operands(), func(o string) bool { return strings.ContainsAny(o, " /") })
	case condition == "stashed":
		return j.stashed
	case condition == "trial": // named as a test
		return testName.MatchString(all)
	case condition == "stage": // named as something else than production
		return stagingName.MatchString(all) && !productionName.MatchString(all)
	case condition == "prod":
		return productionName.MatchString(all)
	case condition == "here": // connects only to this machine
		return !c.isRemote()
	case condition == "sql":
		return sqlLoss(all + " " + c.stdin)
	case condition[0] == '<': // its stdin has output of this kind
		return strings.Contains(c.stdin, markStart+"!"+name)
	case condition[0] == '$': // its words have output of this kind
		return strings.Contains(all, markStart+"!"+name)
	case condition[0] == '>': // the last operand is in this area
		condition, paths = name, append([]string{""}, c.operands()...)
		paths = paths[len(paths)-1:]
	}
	return slices.ContainsFunc(paths, func(p string) bool { return j.isInArea(condition, p, c.scope) })
}
