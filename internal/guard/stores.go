package guard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

var (
	dropping  = pattern.Of("(?is)\\b(drop\\s+(?:database|schema|table)|truncate\\s+table|truncate|delete\\s+from)\\s+(?:if\\s+exists\\s+)?(?:only\\s+)?[\"'`\\[]?([\\w.$\uE000\uE001-]+)([^;]*)")
	trial     = pattern.Of(`(?i)(?:^|[^a-z])(?:tests?|testing|te?mp|ci|scratch|sandbox|throwaway|dummy|e2e|demo|bench)(?:[^a-z]|$)|:memory:`)
	mongoLoss = pattern.Of(`dropDatabase\(|\.drop\(|(?:deleteMany|remove)\(\s*\{\s*\}\s*\)`)
	appLoss   = pattern.Of(`\b(?:migrate reset|migrate:fresh|migrate:reset|db:wipe|db:drop|db:reset|db push --force-reset|db push .*--force-reset|schema:drop|database:drop|db reset|reset_db)\b`)
)

// database judges what drops or empties a database that is not one for tests.
func (j *judge) database(c *call) {
	words := strings.Join(c.args, " ")
	if trial.MatchString(words) || trial.MatchString(c.env["RAILS_ENV"]+" "+c.env["NODE_ENV"]+" "+c.env["DATABASE_URL"]+" "+c.env["PGDATABASE"]+" "+c.env["APP_ENV"]+" "+c.env["MIX_ENV"]) {
		return
	}
	switch c.name {
	case "psql", "mysql", "mariadb", "sqlite3", "sqlite", "sqlcmd", "cockroach", "clickhouse-client", "usql", "duckdb", "pgcli", "mycli", "cqlsh", "litecli", "snowsql", "bq", "wrangler":
		if lost := sqlLoss(strings.Join(append(slices.Clone(c.args), c.in.text), " \n")); lost != "" {
			j.report(DatabaseDestruction, c.name+": "+lost)
		}
	case "dropdb":
		j.report(DatabaseDestruction, c.String())
	case "mysqladmin":
		if strings.Contains(words, "drop ") {
			j.report(DatabaseDestruction, c.String())
		}
	case "redis-cli", "valkey-cli":
		if flush.MatchString(words + " " + c.in.text) {
			j.report(DatabaseDestruction, c.String())
		}
	case "mongo", "mongosh":
		if mongoLoss.MatchString(words + " " + c.in.text) {
			j.report(DatabaseDestruction, c.String())
		}
	case "prisma", "php", "artisan", "rails", "rake", "sequelize", "sequelize-cli", "typeorm", "mix", "supabase", "python", "python3", "console":
		if appLoss.MatchString(words) || djangoLoss.MatchString(words) {
			j.report(DatabaseDestruction, c.String())
		}
	}
}

var (
	flush      = pattern.Of(`(?i)\bflush(?:all|db)\b`)
	djangoLoss = pattern.Of(`manage\.py (?:flush|reset_db|sqlflush)\b`)
)

// sqlLoss finds the first statement that loses data. What is created again in
// the same breath is not lost, nor is what is a trial by its name.
func sqlLoss(sql string) string {
	for _, m := range dropping.FindAllStringSubmatch(sql, 20) {
		verb, name, rest := strings.ToLower(strings.Fields(m[1])[0]), m[2], strings.ToLower(m[3])
		if trial.MatchString(name) || verb == "delete" && strings.Contains(rest, "where") {
			continue
		}
		if again, err := regexp.Compile(`(?i)create\s+\w+\s+(?:if\s+not\s+exists\s+)?["'\x60]?` + regexp.QuoteMeta(name)); err == nil && again.MatchString(sql) {
			continue
		}
		return m[1] + " " + name
	}
	return ""
}

// clouds are the words that lose infrastructure, by client.
var clouds = map[string]*pattern.Pattern{
	"terraform":  pattern.Of(`^(?:-\S+ )*(?:destroy\b|apply\b.*-(?:auto-approve|destroy)|state rm\b)`),
	"pulumi":     pattern.Of(`^(?:destroy\b|stack rm\b|up\b.*(?:--yes|-y)\b)`),
	"cdk":        pattern.Of(`^destroy\b`),
	"aws":        pattern.Of(`\b(?:delete|terminate|remove|deregister|purge)-[a-z-]+|\bs3 rb\b|\bs3 rm\b.*--recursive|\bs3 sync\b.*--delete`),
	"az":         pattern.Of(`\b(?:delete|purge)\b`),
	"gcloud":     pattern.Of(`\bdelete\b`),
	"gsutil":     pattern.Of(`\b(?:rm\b.*-[rR]|-m rm|rb\b|rsync\b.*-d\b)|\brm -r`),
	"kubectl":    pattern.Of(`\bdelete\b.*(?:\b(?:namespaces?|ns|deployments?|deploy|svc|services?|statefulsets?|sts|pvc?|persistentvolume\S*|nodes?|crds?|customresource\S*|secrets?|ingress\S*|clusterrole\S*|all|daemonsets?|ds)\b|--all\b)|^drain\b|\breplace --force`),
	"helm":       pattern.Of(`^(?:uninstall|delete|del|un)\b`),
	"heroku":     pattern.Of(`\b(?:apps:destroy|pg:reset|addons:destroy|destroy)\b`),
	"fly":        pattern.Of(`\b(?:apps? destroy|destroy|volumes? (?:destroy|delete))\b`),
	"vercel":     pattern.Of(`^(?:rm|remove)\b|project rm`),
	"netlify":    pattern.Of(`sites:delete`),
	"doctl":      pattern.Of(`\b(?:delete|destroy)\b`),
	"gh":         pattern.Of(`^repo (?:delete|archive)\b|^api\b.*(?:-X ?|--method[= ])DELETE\b.*repos/[^/ ]+/[^/ ]+(?: |$)|^api\b repos/[^/ ]+/[^/ ]+ .*-X ?DELETE|^secret delete`),
	"firebase":   pattern.Of(`\b(?:projects:delete|firestore:delete|hosting:disable|database:remove)\b`),
	"serverless": pattern.Of(`^remove\b`),
	"eksctl":     pattern.Of(`^delete\b`),
	"wrangler":   pattern.Of(`^(?:delete|d1 delete|kv:?\S* delete|r2 bucket delete)\b`),
	"railway":    pattern.Of(`^(?:down|delete)\b`),
	"vagrant":    pattern.Of(`^destroy\b`),
}

var cloudAlias = map[string]string{"tofu": "terraform", "terragrunt": "terraform", "flyctl": "fly", "sls": "serverless", "k": "kubectl", "oc": "kubectl"}

// cloud judges the loss of infrastructure.
func (j *judge) cloud(c *call) {
	name := c.name
	if alias, ok := cloudAlias[name]; ok {
		name = alias
	}
	loses, ok := clouds[name]
	if !ok || slices.ContainsFunc(c.args, func(a string) bool {
		return strings.HasPrefix(a, "--dry-run") && a != "--dry-run=none" || a == "--dryrun" || a == "--help"
	}) {
		return
	}
	for _, server := range c.values("--endpoint-url", "--api-endpoint") { // a stand-in for the cloud
		if host := hostOf(server); host != "" && local(host) {
			return
		}
	}
	if loses.MatchString(strings.Join(c.args, " ")) {
		j.report(CloudDestruction, c.String())
	}
}
