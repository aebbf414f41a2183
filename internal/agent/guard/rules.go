package guard

import (
	"path"
	"slices"
	"strings"
)

// A group of rows has a category, a reason and an alternative.
type group struct {
	category, why, instead string
	rows                   []row
}

// row is commands, separated by commas, then flags or operands of which the command has one, then operands of which it
// has one, too, then what it has none of. A bar separates alternatives of a word; ** stands for any words.
type row [4]string

// call is a simple command.
type call struct {
	name string // without its folder
	args []string
}

var harmless = "--help --version --dry-run --dry-run=* --dryrun "

// compare reports the first row of the table that matches.
func (c *check) compare(command call) {
	for _, g := range groups {
		for _, r := range g.rows {
			if c.matches(r, command) {
				c.report(g.category, command.text()+" "+g.why, g.instead)
				return
			}
		}
	}
}

func (c *check) matches(r row, command call) bool {
	commands, flags, operands, exceptions := r[0], r[1], r[2], r[3]
	if !slices.ContainsFunc(strings.Split(commands, ", "), command.isOne) {
		return false
	}
	if c.hasOne(harmless+exceptions, command) {
		return false
	}
	if flags != "" && !c.hasOne(flags, command) {
		return false
	}
	return operands == "" || c.hasOne(operands, command)
}

// isOne reports whether a command has a name and words. A flag with a value may stand before the words.
func (c call) isOne(command string) bool {
	words := strings.Fields(command)
	if !matchesAny(words[0], c.name) {
		return false
	}
	words = words[1:]
	latest := 1
	if len(words) > 0 && words[0] == "**" {
		words = words[1:]
		latest = len(c.args)
	}
	operands := c.operands()
	for at := 0; at <= latest && at+len(words) <= len(operands); at++ {
		if slices.EqualFunc(words, operands[at:at+len(words)], matchesAny) {
			return true
		}
	}
	return false
}

// matchesAny compares a word with patterns between bars. * and ? match slashes, too. Only flags are case-sensitive.
func matchesAny(patterns, word string) bool {
	if !strings.HasPrefix(patterns, "-") {
		patterns = strings.ToLower(patterns)
		word = strings.ToLower(word)
	}
	word = strings.ReplaceAll(word, "/", "\x00")
	for p := range strings.SplitSeq(strings.ReplaceAll(patterns, "/", "\x00"), "|") {
		if ok, err := path.Match(p, word); err == nil && ok {
			return true
		}
	}
	return false
}

// hasOne reports whether a command has one of the tokens: a pattern of its flags and operands, @outside (a path outside
// of the project) or @whole (the project, a home, or a folder above them).
func (c *check) hasOne(tokens string, command call) bool {
	return slices.ContainsFunc(strings.Fields(tokens), func(token string) bool {
		switch token {
		case "@outside":
			return slices.ContainsFunc(command.operands(), c.isOutside)
		case "@whole":
			return slices.ContainsFunc(command.operands(), c.isWhole)
		}
		return slices.ContainsFunc(command.tokens(), func(given string) bool { return matchesAny(token, given) })
	})
}

func (c call) text() string {
	const longest = 80
	text := []rune(strings.Join(append([]string{c.name}, c.args...), " "))
	if len(text) > longest {
		return string(text[:longest-1]) + "…"
	}
	return string(text)
}

// operands are the arguments without flags.
func (c call) operands() []string {
	var all []string
	for i, a := range c.args {
		if a == "--" {
			return append(all, c.args[i+1:]...)
		}
		if len(a) < 2 || a[0] != '-' {
			all = append(all, a)
		}
	}
	return all
}

// tokens are the arguments, each flag with its value as -X=DELETE, and each letter of flags like -xzf.
func (c call) tokens() []string {
	var all []string
	for i, a := range c.args {
		all = append(all, a)
		if len(a) < 2 || a[0] != '-' {
			continue
		}
		name, _, _ := strings.Cut(a, "=")
		all = append(all, name)
		if i+1 < len(c.args) {
			all = append(all, a+"="+c.args[i+1])
		}
		if a[1] != '-' {
			all = append(all, a[:2]+"="+a[2:])
			for _, letter := range a[1:] {
				all = append(all, "-"+string(letter))
			}
		}
	}
	return all
}

// written returns the files that a command changes.
func (c call) written() []string {
	files := c.operands()
	switch c.name {
	case "tee", "touch", "truncate", "rm", "rmdir", "unlink", "shred":
		return files
	case "cp", "mv", "install", "ln", "rsync":
		return files[max(0, len(files)-1):]
	}
	return nil
}

const (
	testNames = "*test* *tmp* *dev* *staging* *stage* *preview* *local*"
	keyFiles  = ".env .env.* */.env */.env.* *id_rsa *id_ed25519 */.aws/credentials */.netrc */.npmrc"

	insteadOfForce = "commit or `git stash` first; undo single files; " +
		"`git push --force-with-lease` on your own branch"
	insteadOfDeploying = "use `--dry-run`, a preview or staging, and leave production to the user"
)

// groups are the table of dangerous commands: those that agents are known to try.
var groups = []group{
	{
		category: "file-destruction",
		why:      "deletes what is not the project's, or all of it",
		instead:  "delete the named files inside the project that you mean",
		rows: []row{
			{"rm|rmdir|unlink|shred|rimraf|truncate", "", "@whole @outside"},
			{"find", "-delete", "@whole @outside", "-name -iname -path -regex"},
			{"rsync", "--delete", "@whole @outside"},
			{"mv", "", "@whole"},
		},
	},
	{
		category: "disk-destruction",
		why:      "changes a disk",
		instead:  "work on an image file inside the project",
		rows:     []row{{"mkfs*|mkswap|wipefs|fdisk|parted"}, {"dd", "of=/dev/*", "", "of=/dev/null"}},
	},
	{
		category: "credential-exposure",
		why:      "shows secrets",
		instead:  "check that it exists without printing it (`printenv NAME >/dev/null`), or read .env.example",
		rows: []row{
			{"cat|less|more|head|tail|bat|strings|base64", "", keyFiles, "*.example *.sample *.template"},
			{"cp|mv|tar|zip", "", "*/.ssh */.ssh/id_* */.aws/credentials */.netrc"},
			{"env|printenv", "", "", "?*"},
			{"gh auth token, gcloud auth print-*, vault kv get, git credential fill"},
		},
	},
	{
		category: "privilege-escalation",
		why:      "gives rights away",
		instead:  "give rights to the project's files and to the user alone, or ask the user",
		rows: []row{
			{"chmod|chown|chgrp", "-R --recursive", "@whole @outside"},
			{"chmod", "", "777 0777 a+w o+w u+s g+s +s"},
			{"usermod|visudo|setcap|pkexec"},
		},
	},
	{
		category: "container-escape",
		why:      "gives a container the machine, or deletes what other projects use",
		instead:  "mount only the project, name the containers that you mean",
		rows: []row{
			{"docker|podman run|create", "--privileged --pid=host"},
			{"docker|podman run|create", "-v=/:* -v=*docker.sock* --volume=/:* --volume=*docker.sock*"},
			{"docker|podman system|volume|container|network prune, docker|podman volume rm, nsenter"},
		},
	},
	{
		category: "git-destruction",
		why:      "overwrites or deletes what others have pushed",
		instead:  insteadOfForce,
		rows: []row{
			{"git push", "-f --force --mirror -d --delete --prune"},
			{"git push", "", "+* :?*"},
			{"git push", "--force-with-lease", "main master *:main *:master"},
			{"git filter-branch|filter-repo, git-filter-repo|bfg"},
		},
	},
	{
		category: "git-destruction",
		why:      "discards uncommitted work, or what it could be restored from",
		instead:  insteadOfForce,
		rows: []row{
			{"git reset", "--hard --merge"},
			{"git clean", "-f --force", "", "-n"},
			{"git checkout|restore", "", ". ./ :/ *\\*", "-b -B --staged -S"},
			{"git checkout|switch", "-f --force --discard-changes"},
			{"git stash clear|drop, git reflog expire|delete, git prune"},
			{"git branch", "-d -D -f -M --delete", "main master"},
			{"git worktree remove", "-f --force"},
		},
	},
	{
		category: "system-configuration",
		why:      "changes the machine",
		instead:  "keep the change inside the project or a container, or ask the user",
		rows: []row{
			{"iptables|nft|ufw|crontab|passwd|useradd|userdel|sysctl", "", "", "-l -L -a --list status"},
			{"systemctl stop|disable|mask|enable, launchctl load|unload|remove"},
			{"apt|apt-get remove|purge|autoremove, yum|dnf remove, brew uninstall"},
		},
	},
	{
		category: "process-manipulation",
		why:      "stops the machine, or more than what you started",
		instead:  "end the one process that you started, by its id (`kill $PID`) or its port",
		rows: []row{
			{"reboot|shutdown|poweroff|halt, systemctl poweroff|reboot|halt"},
			{"killall|pkill", "", "", "-l -P -F"},
			{"kill", "", "1 0 -9=-1 -KILL=-1"},
		},
	},
	{
		category: "persistence",
		why:      "runs again later",
		instead:  "keep it in the project's own scripts, or ask the user",
		rows:     []row{{"git config core.hooksPath"}},
	},
	{
		category: "database-destruction",
		why:      "loses data",
		instead:  "use a database with `test` in its name, or a migration",
		rows: []row{
			{"psql|mysql|mariadb|sqlite3", "", "*drop?table* *drop?database* *drop?schema* *truncate?*", testNames},
			{"dropdb, redis-cli flushall|flushdb, mongosh|mongo *dropDatabase*", "", "", testNames},
			{"rails|rake db:drop|db:reset|db:purge, prisma migrate reset, manage.py flush", "", "", testNames},
		},
	},
	{
		category: "cloud-destruction",
		why:      "deletes what runs or is kept elsewhere",
		instead:  "show the plan (`plan`, `--dry-run`, `get`) and leave it to the user",
		rows: []row{
			{"terraform|tofu|pulumi|cdk destroy, kubectl delete, helm uninstall|delete, fly|flyctl ** destroy"},
			{"aws ** delete-*|terminate-*, aws s3 rb|rm, gcloud ** delete, az ** delete, gh repo|release delete"},
			{"gh api|curl", "-X=DELETE --method=DELETE --request=DELETE", "", "*localhost* *127.0.0.1*"},
		},
	},
	{
		category: "deployment",
		why:      "publishes, or deploys to production",
		instead:  insteadOfDeploying,
		rows: []row{
			{"terraform|tofu|kubectl apply, pulumi up, helm install|upgrade", "", "", testNames},
			{"gcloud ** deploy, cdk|serverless|fly|firebase|wrangler deploy", "", "", testNames},
			{"vercel|netlify", "--prod --production"},
			{"npm|pnpm|bun|yarn|lerna|cargo|poetry|uv publish, twine upload, gem push, mvn|mvnw ** deploy"},
			{"docker|podman push", "", "", "localhost:* localhost/* 127.0.0.1:*"},
			{"gh release create|upload", "", "", "-d --draft"},
			{"gh pr merge", "--admin"},
		},
	},
}
