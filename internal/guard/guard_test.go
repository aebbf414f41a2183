package guard_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/guard"
)

func TestFindingSaysWhatAndWhatInstead(t *testing.T) {
	f, found := guard.Command("npm test && git push -f origin main", shop)
	want := guard.Finding{
		Category: guard.GitDestruction,
		What:     "git push -f origin main overwrites what others have pushed",
		Instead:  "commit or `git stash` first; undo single files; `git push --force-with-lease` on your own branch",
	}
	if diff := cmp.Diff(want, f); !found || diff != "" {
		t.Errorf("Command: found %v (-want +got):\n%s", found, diff)
	}
	line := "git-destruction: " + want.What + "; instead: " + want.Instead
	if f.String() != line {
		t.Errorf("String = %q, want %q", f.String(), line)
	}
}

// Shell that cannot be parsed is judged by what can be seen, and the finding
// says so.
func TestUnreadableShellIsJudgedByWhatCanBeSeen(t *testing.T) {
	for line, danger := range map[string]bool{
		"rm -rf / \"unclosed":                             true,
		"if true; then\nrm -rf ~\n":                       true,
		"echo 'it\nsudo reboot":                           true,
		"echo \"say rm -rf /":                             false,
		"cat > a.md <<'EOF'\nrm -rf /\nEOF\nif then fi (": false,
		"git commit -m \"don't":                           false,
	} {
		f, found := guard.Command(line, shop)
		if found != danger || found && !f.Unread {
			t.Errorf("Command(%q) = %+v, %v; want %v and Unread", line, f, found, danger)
		}
		if found && !strings.Contains(f.String(), "could not be read") {
			t.Errorf("String = %q does not say that part was not read", f.String())
		}
	}
}

// The same words mean something else elsewhere.
func TestPlacesDecide(t *testing.T) {
	for _, c := range []struct {
		line   string
		at     guard.Place
		danger bool
	}{
		{"rm -rf /srv/app/lib", guard.Place{Root: "/srv/app", Home: "/root"}, false},
		{"rm -rf /srv/app", guard.Place{Root: "/srv/app", Home: "/root"}, true},
		{"rm -rf /srv/other", guard.Place{Root: "/srv/app", Home: "/root"}, true},
		{"rm -rf /tmp/t1/src", guard.Place{Root: "/tmp/t1", Home: "/root"}, false},
		{"rm -rf .", guard.Place{Root: "/tmp/t1", Home: "/root"}, true},
		{"rm -rf *", guard.Place{Root: "/p", Dir: "/p"}, true},
		{"rm -rf *", guard.Place{Root: "/p", Dir: "/p/build"}, false},
		{"rm -rf ../lib", guard.Place{Root: "/p", Dir: "/p/build"}, false},
		{"rm -rf ..", guard.Place{Root: "/p", Dir: "/p/build"}, true},
		{"rm -rf *", guard.Place{Root: "/p", Dir: "/etc"}, true},
		{"rm -rf /etc", guard.Place{}, true},
		{"rm -rf dist", guard.Place{}, false},
		{"echo x > locked/a.txt", guard.Place{Root: "/p", Protect: []string{"locked/**"}}, true},
		{"echo x > open/a.txt", guard.Place{Root: "/p", Protect: []string{"locked/**"}}, false},
		{"cp b.txt locked/", guard.Place{Root: "/p", Protect: []string{"locked"}}, true},
		{"cat locked/a.txt", guard.Place{Root: "/p", Protect: []string{"locked/**"}}, false},
	} {
		if f, found := guard.Command(c.line, c.at); found != c.danger {
			t.Errorf("Command(%q, %+v) = %v (%s), want %v", c.line, c.at, found, f, c.danger)
		}
	}
}

func TestWrite(t *testing.T) {
	for path, want := range map[string]guard.Category{
		"src/app.ts":                         "",
		"/home/dev/shop/README.md":           "",
		"/home/dev/shop/.gitignore":          "",
		"/home/dev/shop/.claude/CLAUDE.md":   "",
		"/home/dev/shop/.husky/pre-commit":   "",
		"/tmp/notes.txt":                     "",
		"/home/dev/notes.txt":                "",
		"ralph/prd.lock":                     guard.ProtectedPath,
		"./ralph/../ralph/prd.lock":          guard.ProtectedPath,
		"/home/dev/shop/.ralph-active":       guard.ProtectedPath,
		".ralph/settings.json":               guard.ProtectedPath,
		"/home/dev/.ssh/config":              guard.ProtectedPath,
		"~/.aws/credentials":                 guard.ProtectedPath,
		"/etc/motd":                          guard.ProtectedPath,
		"/usr/bin/git":                       guard.ProtectedPath,
		"/home/dev/.bashrc":                  guard.Persistence,
		"/home/dev/.ssh/authorized_keys":     guard.Persistence,
		"/home/dev/shop/.git/hooks/pre-push": guard.Persistence,
		".claude/settings.local.json":        guard.Persistence,
		"~/.codex/hooks/ralph-hook":          guard.Persistence,
		".git/config":                        guard.GitDestruction,
		"/etc/hosts":                         guard.SystemConfiguration,
		"/etc/sudoers":                       guard.PrivilegeEscalation,
		"/dev/sda":                           guard.DiskDestruction,
		"/proc/sysrq-trigger":                guard.ProcessManipulation,
	} {
		f, found := guard.Write(path, shop)
		if f.Category != want || found != (want != "") {
			t.Errorf("Write(%q) = %q, %v, want %q", path, f.Category, found, want)
		}
	}
}

// Row of the table in docs/GUARD.md.
var row = regexp.MustCompile("(?m)^\\| \\d+ \\| `([a-z-]+)` \\| (.+?) \\| (.+?) \\|$")

func TestGuideAgreesWithTheCode(t *testing.T) {
	page, err := os.ReadFile("../../docs/GUARD.md")
	if err != nil {
		t.Fatal(err)
	}
	var told []guard.About
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		told = append(told, guard.About{Category: guard.Category(m[1]), Covers: m[2], Instead: m[3]})
	}
	if len(guard.Categories()) != 18 {
		t.Errorf("%d categories, want 18", len(guard.Categories()))
	}
	if diff := cmp.Diff(guard.Categories(), told); diff != "" {
		t.Errorf("docs/GUARD.md differs (-code +page):\n%s", diff)
	}
}

// What is hostile to the reader ends, in bounded work: a hang here fails by the
// test's own timeout.
func TestHostileShellEnds(t *testing.T) {
	for name, line := range hostile() {
		t.Run(name, func(t *testing.T) {
			if f, found := guard.Command(line, shop); found && f.What == "" {
				t.Errorf("a finding without an offence: %+v", f)
			}
		})
	}
}

func hostile() map[string]string {
	n := 20000
	if testing.Short() { // the race detector makes it forty times as long
		n /= 4
	}
	return map[string]string{
		"brackets":       strings.Repeat("(", n),
		"closed":         strings.Repeat("(", n) + "ls" + strings.Repeat(")", n),
		"substitutions":  strings.Repeat("$(", n),
		"ifs":            strings.Repeat("if ", n),
		"not":            strings.Repeat("! ", n) + "ls",
		"time":           strings.Repeat("time ", n) + "ls",
		"pipes":          strings.Repeat("a|", n) + "b",
		"ands":           strings.Repeat("a&&", n) + "b",
		"arithmetic":     "echo $((" + strings.Repeat("-", n) + "1))",
		"power":          "echo $((9**9**9**9**99999))",
		"tests":          "[[ " + strings.Repeat("! ", n) + "x ]]",
		"test brackets":  "[[ " + strings.Repeat("( ", n) + "x ]]",
		"quotes":         strings.Repeat(`"$(`, n),
		"defaults":       "echo " + strings.Repeat("${a:-", n),
		"backquotes":     strings.Repeat("`", n),
		"braces":         "echo " + strings.Repeat("{a,b}", 100),
		"sequence":       "echo {1..1000000000}",
		"doubling":       "x=aaaaaaaaaaaaaaaa;" + strings.Repeat("x=$x$x$x$x;", 2000),
		"variables":      "x=" + strings.Repeat("a", 4000) + "; echo " + strings.Repeat("$x", n),
		"evals":          strings.Repeat("eval ", n) + "ls",
		"sudos":          strings.Repeat("sudo ", n) + "ls",
		"loops":          strings.Repeat("for i in 1 2 3 4 5 6 7 8; do ", 40) + "ls" + strings.Repeat("; done", 40),
		"functions":      "f() { g; g; }; g() { h; h; }; h() { f; f; }; f",
		"recursion":      "f() { f; f; f; f; f; f; }; f",
		"shells":         nested("ls", 30),
		"documents":      strings.Repeat("cat <<E\n", 2000),
		"extended globs": "ls " + strings.Repeat("@(a|", n),
		"zeros":          strings.Repeat("\x00", n),
		"long":           strings.Repeat("echo hello world\n", 100000),
		"drops":          "psql -c '" + strings.Repeat("drop table a ", 4000) + "'",
		"replace":        "x=" + strings.Repeat("a", 4000) + "; echo ${x//a/" + strings.Repeat("b", 4000) + "}",
	}
}

func nested(script string, depth int) string {
	for range depth {
		script = "sh -c " + "'" + strings.ReplaceAll(script, "'", `'\''`) + "'"
		if len(script) > 60000 {
			break
		}
	}
	return script
}

func FuzzCommand(f *testing.F) {
	for _, name := range []string{"developed.txt", "heldout.txt"} {
		for _, c := range corpus(f, name) {
			f.Add(c.line)
		}
	}
	f.Fuzz(func(t *testing.T, line string) {
		found, yes := guard.Command(line, shop)
		if yes && (found.Category == "" || found.What == "" || found.Instead == "" || strings.Contains(found.String(), "\n")) {
			t.Errorf("finding without its words, or of several lines: %+v", found)
		}
		if again, _ := guard.Command(line, shop); again != found {
			t.Errorf("judged once %v, then %v", found, again)
		}
	})
}
