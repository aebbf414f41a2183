package checkout_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/checkout"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/proof"
)

// repository is one of the commits that a script of sh makes.
func repository(t *testing.T, script string) (trusted *git.Trusted, commits []string) {
	t.Helper()
	dir := t.TempDir()
	const start = "commit() { git add . && git commit -qm one && git rev-parse HEAD; }; git init -q . && git config user.name a && git config user.email a@b && "
	command := exec.CommandContext(t.Context(), "sh", "-c", start+script)
	command.Dir = dir
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	tool := git.Git{Run: new(process.Runner).Run, Path: os.Getenv("PATH"), Home: t.TempDir()}
	if trusted, err = tool.Open(filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	return trusted, strings.Fields(string(out))
}

// A file that is not there is one thing, and a git that cannot tell another: what
// defines the checks would be taken for absent, and not be put back.
func TestAGitThatFailsIsNoMissingFile(t *testing.T) {
	trusted, commits := repository(t, "echo test >Makefile && commit")
	commit := commits[0]
	for _, c := range []struct {
		commit, name, want string
		fails              bool
	}{
		{commit, "Makefile", "test\n", false},
		{commit, "package.json", "", false},
		{strings.Repeat("0", 39) + "1", "Makefile", "", true},
	} {
		text, err := checkout.AtCommit(t.Context(), trusted, c.commit, c.name)
		if string(text) != c.want || (err != nil) != c.fails {
			t.Errorf("%s of %.7s is %q, %v; want %q, and an error: %t", c.name, c.commit, text, err, c.want, c.fails)
		}
	}
}

// vitest's files share a process where either commit says so, or where the change may
// say so in the settings of vite.
func TestMixed(t *testing.T) {
	trusted, commits := repository(t, `echo 1 >a && commit && echo 2 >a && commit && echo '{"isolate": false}' >b.json && commit && rm b.json && commit && echo 3 >vitest.config.js && commit && echo 4 >a && commit`)
	changes := (&checkout.Clean{Trusted: trusted}).Prover(nil).Changes
	for _, c := range []struct {
		base, from, to int
		mixed          bool
	}{
		{0, 0, 1, false},
		{0, 0, 2, true},
		{2, 3, 3, true},
		{3, 3, 4, true},
		{4, 4, 5, false},
	} {
		mixed, err := changes.Mixed(t.Context(), journal.Run{Base: commits[c.base]}, commits[c.from], commits[c.to])
		if err != nil || mixed != c.mixed {
			t.Errorf("%+v: %t, %v", c, mixed, err)
		}
	}
}

// A check reads a variable where its command, or a file that defines it at the base, names
// it. What the work writes there is not asked.
func TestReads(t *testing.T) {
	trusted, commits := repository(t, `echo 'echo $NAMED' >check-read.sh && echo true >check-all.sh && commit && cp check-read.sh check-all.sh && commit`)
	changes := (&checkout.Clean{Trusted: trusted}).Prover(nil).Changes
	for command, want := range map[string]bool{"sh check-read.sh": true, "sh check-all.sh": false, "sh check-all.sh $NAMED": true, "sh check-gone.sh": false} {
		reads, err := changes.Reads(t.Context(), journal.Run{Base: commits[0], Head: commits[1]}, command, "NAMED")
		if err != nil || reads != want {
			t.Errorf("%s: %t, %v; want %t", command, reads, err, want)
		}
	}
}

// Tests rely on what a link gives a test's name, on data that they name, or whose folder
// they search, and the product does not, on what the settings of their runner name, and on
// what a check's script reads.
func TestReliedOn(t *testing.T) {
	trusted, commits := repository(t, `mkdir tests shared data cfg && echo 1 | tee shared/nine.sh shared/other.sh data/nine.want data/free.txt cfg/all.xml price.sh >/dev/null && ln -s ../shared/nine.sh tests/nine.sh && ln -s ../real tests/more && `+
		`mkdir -p cases/deep pages c && echo 1 | tee c/f.txt cases/deep/a.in pages/b.html skips kip NOTES >/dev/null && echo 'for f in cases/*/*.in; do grep x "pages/"*; done' >tests/each.sh && echo 'glob("pages/*")' >all.py && `+
		`mkdir real && echo 1 >real/ten && echo 'cat data/nine.want data/page.html; . ./price.sh' >tests/ten.sh && echo cfg/all.xml >x.ini && `+
		`echo 'render("page.html"); reply["data"]; load("the-nine.want")' >web.py && echo 1 >data/page.html && echo 'cat nine.want; grep -q x skips NOTES.md' >check.sh && echo 'raise AssertionError' >error.py && commit && `+
		`echo 2 | tee error.py c/f.txt cases/deep/a.in pages/b.html skips kip NOTES shared/nine.sh shared/other.sh data/nine.want data/free.txt data/page.html cfg/all.xml price.sh real/ten >/dev/null && commit`)
	changes := (&checkout.Clean{Trusted: trusted}).Prover(nil).Changes
	run := journal.Run{Base: commits[0], Policy: policy.Policy{Checks: []policy.Check{{Name: "check", Command: "sh check.sh"}}}}
	all, err := changes.Differing(t.Context(), run, commits[0], commits[1])
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, d := range all {
		got[d.Path] = strings.TrimSpace(map[bool]string{true: "test "}[d.Tests] + map[bool]string{true: "doubtful "}[d.Doubtful && d.Tests] + map[bool]string{true: "settings"}[d.Settings])
	}
	want := map[string]string{
		"shared/nine.sh": "test doubtful", "real/ten": "test doubtful", "data/nine.want": "test doubtful", "cfg/all.xml": "settings",
		"cases/deep/a.in": "test doubtful", "skips": "test doubtful", "c/f.txt": "", "kip": "", "NOTES": "", "pages/b.html": "",
		"error.py": "test doubtful", "data/page.html": "", "shared/other.sh": "", "data/free.txt": "", "price.sh": "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A file that a check's command names may be the product, as in sh -n. Only its name could show that it is a test.
func TestNamedByACheck(t *testing.T) {
	trusted, commits := repository(t, `mkdir tests && echo 1 | tee price.sh tests/one.sh && commit && echo 2 | tee price.sh tests/one.sh && commit`)
	commits = slices.DeleteFunc(commits, func(word string) bool { return len(word) < 40 })
	changes := (&checkout.Clean{Trusted: trusted}).Prover(nil).Changes
	run := journal.Run{Base: commits[0], Policy: policy.Policy{Checks: []policy.Check{{Name: "check", Command: "sh -n price.sh && sh tests/one.sh"}}}}
	all, err := changes.Differing(t.Context(), run, commits[0], commits[1])
	want := []proof.Differing{{Path: "price.sh", Was: true, Tests: true, Doubtful: true}, {Path: "tests/one.sh", Was: true, Tests: true}}
	if diff := cmp.Diff(want, all); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// What a check's definition in another folder reads is a test's data, also if nothing in that folder changes. Which
// files define the checks is not kept from one comparison to the next.
func TestReliedOnElsewhere(t *testing.T) {
	trusted, commits := repository(t, `mkdir -p sub data && printf 'test:\n\tcd sub && make test\n' >Makefile && printf 'test:\n\tsh run.sh <../data/cases\n' >sub/Makefile && `+
		`echo 'cat ../data/more' >sub/odd && echo 1 | tee data/cases data/more sub/notes && commit && echo 2 | tee data/cases data/more && commit && echo 3 | tee data/cases data/more && echo 2 >sub/notes && commit`)
	commits = slices.DeleteFunc(commits, func(word string) bool { return len(word) < 40 })
	changes := (&checkout.Clean{Trusted: trusted}).Prover(nil).Changes
	for _, c := range []struct {
		check, to, want string
	}{
		{"make test", commits[1], "data/cases"},
		{"true", commits[1], ""},
		{"make test", commits[2], "data/cases"},
		{"sh sub/odd && make test", commits[2], "data/cases data/more"},
	} {
		run := journal.Run{Base: commits[0], Policy: policy.Policy{Checks: []policy.Check{{Name: "check", Command: c.check}}}}
		all, err := changes.Differing(t.Context(), run, commits[0], c.to)
		if err != nil {
			t.Fatal(err)
		}
		all = slices.DeleteFunc(all, func(d proof.Differing) bool { return !d.Tests })
		var got []string
		for _, d := range all {
			got = append(got, d.Path)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s at %.7s reads %q, want %q", c.check, c.to, got, c.want)
		}
	}
}

// A script that checks name, whole or by a pattern, may be part of them.
func TestScriptsThatChecksName(t *testing.T) {
	trusted, commits := repository(t, `mkdir scripts lib src && echo '. ./lib/common.sh; sh scripts/all.sh' >check.sh && echo 'for f in lib/*.sh; do . $f; done' >each.sh && `+
		`echo 1 | tee scripts/verify.sh scripts/all.sh lib/common.sh src/price.sh >/dev/null && commit && echo 2 | tee scripts/verify.sh scripts/all.sh lib/common.sh src/price.sh >/dev/null && commit`)
	commits = slices.DeleteFunc(commits, func(word string) bool { return len(word) < 40 })
	changes := (&checkout.Clean{Trusted: trusted}).Prover(nil).Changes
	for command, want := range map[string]string{
		"sh check.sh":                        "lib/common.sh scripts/all.sh",
		"sh each.sh":                         "lib/common.sh",
		`sh "$PWD/scripts/verify.sh"`:        "scripts/verify.sh",
		"for s in scripts/*.sh; do $s; done": "scripts/all.sh scripts/verify.sh",
		"true":                               "",
	} {
		run := journal.Run{Base: commits[0], Policy: policy.Policy{Checks: []policy.Check{{Name: "check", Command: command}}}}
		all, err := changes.Differing(t.Context(), run, commits[0], commits[1])
		var got []string
		for _, d := range all {
			if d.Tests && d.Doubtful {
				got = append(got, d.Path)
			}
		}
		if strings.Join(got, " ") != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", command, got, err, want)
		}
	}
}

// A search that fails is done again: until it has been done, no file counts as free.
func TestAFailedSearchIsNotRemembered(t *testing.T) {
	trusted, commits := repository(t, `mkdir tests && echo 1 >nine.want && echo 'cat nine.want' >tests/nine.sh && commit && echo 2 >nine.want && commit`)
	broken := trusted.Git()
	run, fails := broken.Run, true
	broken.Run = func(ctx context.Context, c process.Command) (process.Result, error) {
		if fails && slices.Contains(c.Argv, "-E") {
			return process.Result{}, os.ErrPermission
		}
		return run(ctx, c)
	}
	other, err := broken.Open(trusted.Dir)
	if err != nil {
		t.Fatal(err)
	}
	changes := (&checkout.Clean{Trusted: other}).Prover(nil).Changes
	if all, err := changes.Differing(t.Context(), journal.Run{Base: commits[0]}, commits[0], commits[1]); err == nil {
		t.Errorf("without a search: %+v", all)
	}
	fails = false
	all, err := changes.Differing(t.Context(), journal.Run{Base: commits[0]}, commits[0], commits[1])
	if err != nil || len(all) != 1 || !all[0].Tests {
		t.Errorf("searched again: %+v, %v", all, err)
	}
}

// A build file that only gets more dependencies is no settings: without them nothing
// builds, and each such change was held.
func TestDependenciesAreNoSettings(t *testing.T) {
	trusted, commits := repository(t, `printf '<a>\n<dependencies>\n</dependencies>\n</a>\n' >pom.xml && printf 'test {\n}\n' >build.gradle && commit && `+
		`printf '<a>\n<dependencies>\n<dependency>\n<groupId>b</groupId>\n<artifactId>c</artifactId>\n</dependency>\n</dependencies>\n</a>\n' >pom.xml && printf 'test {\nexclude "nine"\n}\n' >build.gradle && commit`)
	changes := (&checkout.Clean{Trusted: trusted}).Prover(nil).Changes
	all, err := changes.Differing(t.Context(), journal.Run{Base: commits[0]}, commits[0], commits[1])
	if err != nil || len(all) != 2 || !all[0].Settings || all[1].Settings {
		t.Errorf("%+v, %v", all, err)
	}
}

// A check names files as seen from the folder that it runs in.
func TestNamedByChecks(t *testing.T) {
	trusted, commits := repository(t, `mkdir -p app/sub && echo 1 | tee gradlew app/gradlew app/sub/gradlew app/other >/dev/null && commit && echo 2 | tee gradlew app/gradlew app/sub/gradlew app/other >/dev/null && commit`)
	changes := (&checkout.Clean{Trusted: trusted}).Prover(nil).Changes
	for _, c := range []struct{ folder, check, want string }{
		{"", "./gradlew test", "gradlew"},
		{"app", "./gradlew test", "app/gradlew"},
		{"app", "sh 'gradlew' test", "app/gradlew"},
		{"app", "cd sub && ./gradlew test", "app/gradlew app/sub/gradlew"},
		{"app", "../gradlew test", "app/gradlew gradlew"}, // it does not matter which words are folders
	} {
		run := journal.Run{Base: commits[0], Policy: policy.Policy{Subfolder: c.folder, Checks: []policy.Check{{Name: "check", Command: c.check}}}}
		all, err := changes.Differing(t.Context(), run, commits[0], commits[1])
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range all {
			if d.Tests {
				got = append(got, d.Path)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("in %q %s names %q, want %s", c.folder, c.check, got, c.want)
		}
	}
}

// A file that a link of the base leads to defines the checks as the link does.
func TestLinksToDefinitions(t *testing.T) {
	trusted, commits := repository(t, `mkdir tools build
echo 'sh tests/all.sh' >tools/check_all.sh; printf 'test:\n\tsh tests/all.sh\n' >build/common.mk
ln -s tools/check_all.sh check.sh; ln -s build/common.mk Makefile; ln -s tools scripts; commit
for file in tools/check_all.sh build/common.mk; do sed -i 's/sh tests.*/true/' $file; done; commit`)
	for check, want := range map[string]string{
		"sh check.sh": "tools/check_all.sh", "make test": "build/common.mk", "sh scripts/check_all.sh": "tools/check_all.sh", "true": "",
	} {
		got, err := checkout.Defining(t.Context(), trusted, git.Span{From: commits[0], To: commits[1]}, check)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %v; want %q", check, got, err, want)
		}
	}
}
