package guard

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

var mainBranch = pattern.Of(`^(?:refs/heads/)?(?:main|master|trunk|production|release)$`)

// git judges what cannot be brought back: shared history, and uncommitted work
// that is thrown away wholesale. Single files are the agent's business.
func (j *judge) git(c *call) {
	sub, args, settings, dir := gitWords(c)
	for _, s := range settings {
		j.gitSetting(s, c)
	}
	if sub == "" || slices.Contains(args, "--help") {
		return
	}
	sc := c.scope
	if dir != "" {
		sc = c.scope.sub()
		sc.dir = j.resolve(dir, c.scope)
	}
	g := &call{ran: c.ran, name: "git", args: args}
	g.scope = sc
	if why := j.gitHistory(sub, g); why != "" {
		j.report(GitDestruction, "git "+sub+" "+strings.Join(args, " ")+why)
		return
	}
	if why := j.gitWork(sub, g); why != "" {
		j.report(GitDestruction, "git "+sub+" "+strings.Join(args, " ")+why)
		return
	}
	j.gitRuns(sub, g)
}

// gitWords takes git's own options off.
func gitWords(c *call) (sub string, args, settings []string, dir string) {
	if name, ok := strings.CutPrefix(c.name, "git-"); ok {
		return name, c.args, nil, ""
	}
	if c.name != "git" {
		return "", nil, nil, ""
	}
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		next := ""
		if i+1 < len(c.args) {
			next = c.args[i+1]
		}
		switch {
		case a == "-c" || a == "--config-env":
			settings = append(settings, next)
			i++
		case a == "-C":
			dir = next
			i++
		case a == "--git-dir" || a == "--work-tree" || a == "--namespace" || a == "--exec-path":
			i++
		case !strings.HasPrefix(a, "-"):
			return a, c.args[i+1:], settings, dir
		}
	}
	return "", nil, settings, dir
}

// gitHistory is what other people have, or what was committed.
func (j *judge) gitHistory(sub string, c *call) string {
	const (
		lost = " throws away what commits could be restored from"
		main = " on the main branch"
	)
	words := strings.Join(c.args, " ")
	dry := c.has("n", "--dry-run")
	switch sub {
	case "push":
		return gitPush(c)
	case "filter-branch", "filter-repo":
		return " rewrites history"
	case "reflog":
		return when(strings.HasPrefix(words, "expire") && !dry || strings.HasPrefix(words, "delete"), lost)
	case "gc":
		return when(slices.Contains(c.values("--prune"), "now") || slices.Contains(c.values("--prune"), "all"), lost)
	case "prune":
		return when(!dry, lost)
	case "update-ref":
		return when(c.has("d", "--delete"), " deletes a ref")
	case "branch":
		return when(c.has("dDfMC", "--delete", "--force") && !c.has("r", "--remotes") && slices.ContainsFunc(c.operands(), mainBranch.MatchString), main)
	case "stash":
		first := c.first()
		j.stashed = j.stashed || first == "" || first == "push" || first == "save"
		switch {
		case first == "clear":
			return " throws away all that was stashed"
		case first == "drop" && j.stashed && len(c.operands()) == 1:
			return " throws away the work that was just stashed"
		}
	}
	return ""
}

func when(so bool, why string) string {
	if so {
		return why
	}
	return ""
}

func gitPush(c *call) string {
	lease := slices.ContainsFunc(c.args, func(a string) bool { return strings.HasPrefix(a, "--force-with-lease") || a == "--force-if-includes" })
	ops := c.operands("-o", "--push-option", "--receive-pack", "--repo")
	refs := tail(ops, true)
	toMain := slices.ContainsFunc(refs, func(r string) bool {
		_, to, ok := strings.Cut(r, ":")
		if !ok {
			to = r
		}
		return mainBranch.MatchString(strings.TrimPrefix(to, "+"))
	})
	if c.has("n", "--dry-run") {
		return ""
	}
	switch {
	case c.has("f", "--force"), c.has("", "--mirror"):
		return " overwrites what others have pushed"
	case slices.ContainsFunc(refs, func(r string) bool { return strings.HasPrefix(r, "+") }):
		return " overwrites what others have pushed"
	case lease && toMain:
		return " rewrites the main branch"
	case c.has("d", "--delete") && toMain, slices.ContainsFunc(refs, func(r string) bool { return strings.HasPrefix(r, ":") && mainBranch.MatchString(r[1:]) }):
		return " deletes the main branch"
	}
	return ""
}

// gitWork is what was not committed yet.
func (j *judge) gitWork(sub string, c *call) string {
	const loses = " throws away all uncommitted work"
	if j.stashed {
		return ""
	}
	switch sub {
	case "reset":
		return when(c.has("", "--hard"), loses)
	case "clean":
		return when(c.has("f", "--force") && !c.has("ni", "--dry-run", "--interactive") && len(c.operands("-e", "--exclude")) == 0,
			" deletes all untracked files")
	case "checkout":
		paths, dashes := afterDashes(c.args)
		if !dashes {
			paths = c.operands("-b", "-B")
		}
		return when(j.gitAll(paths, c.scope) || c.has("f", "--force") && !dashes && !c.has("bB"), loses)
	case "read-tree":
		return when(c.has("", "--reset") && c.has("u", ""), loses)
	case "switch":
		return when(c.has("f", "--force", "--discard-changes"), loses)
	case "restore":
		staged := c.has("S", "--staged") && !c.has("W", "--worktree")
		return when(!staged && j.gitAll(c.operands("-s", "--source"), c.scope), loses)
	case "rm":
		return when(c.has("r", "") && j.gitAll(c.operands(), c.scope) && !c.has("n", "--cached", "--dry-run"), " deletes the whole project")
	}
	return ""
}

// gitAll says that one of the paths is the whole tree.
func (j *judge) gitAll(paths []string, sc *scope) bool {
	return slices.ContainsFunc(paths, func(p string) bool {
		if p == ":/" || p == "*" {
			return true
		}
		spelt := p == "." || strings.HasSuffix(p, "/") || strings.HasPrefix(p, "/") // and no branch
		return spelt && j.where(j.resolve(p, sc)) == project
	})
}

func afterDashes(args []string) ([]string, bool) {
	i := slices.Index(args, "--")
	if i < 0 {
		return nil, false
	}
	return args[i+1:], true
}

// gitRuns judges the commands that git is given to run, and its settings.
func (j *judge) gitRuns(sub string, c *call) {
	ops := c.operands("-f", "--file", "--type")
	switch {
	case sub == "config":
		if len(ops) > 0 && ops[0] == "set" {
			ops = ops[1:]
		}
		if len(ops) == 2 && !c.has("l", "--get", "--unset", "--list", "--get-all") {
			j.gitSetting(ops[0]+"="+ops[1], c)
		}
	case sub == "submodule" && len(ops) > 1 && ops[0] == "foreach", sub == "bisect" && len(ops) > 1 && ops[0] == "run":
		j.script(strings.Join(ops[1:], " "), c.scope.sub(), stream{})
	case sub == "rebase":
		for _, script := range c.values("-x", "--exec") {
			j.script(script, c.scope.sub(), stream{})
		}
	case sub == "worktree" && len(ops) == 2 && ops[0] == "remove":
		if j.where(j.resolve(ops[1], c.scope)) == project {
			j.report(GitDestruction, "removing the project's own worktree")
		}
	}
}

func (j *judge) gitSetting(pair string, c *call) {
	name, value, _ := strings.Cut(pair, "=")
	name = strings.ToLower(name)
	switch {
	case strings.HasPrefix(name, "alias.") && strings.HasPrefix(value, "!"):
		j.script(value[1:], c.scope.sub(), stream{})
	case strings.HasPrefix(name, "credential.") && strings.HasSuffix(name, "helper") && (strings.HasPrefix(value, "store") || strings.HasPrefix(value, "!")):
		j.report(CredentialExposure, "git config "+pair)
	case name == "core.hookspath":
		if a := j.where(j.resolve(value, c.scope)); a != inside && a != project && a != somewhere {
			j.report(Persistence, "git config "+pair+" turns the project's hooks off")
		}
	case name == "core.sshcommand", name == "core.pager", name == "core.editor", name == "core.fsmonitor", name == "sequence.editor":
		if value != "true" && value != "false" {
			j.script(value, c.scope.sub(), stream{})
		}
	}
}
