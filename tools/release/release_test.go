// Package release_test tries the scripts of a release on repositories that it
// makes. tools/release/check.sh tries what a release builds.
package release_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

const image = "ghcr.io/ralph-loop/ralph-agents@sha256:0123"

// run starts a program and gives what it printed.
func run(t *testing.T, dir string, env []string, argv ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b.c", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b.c")
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func must(t *testing.T, dir string, argv ...string) string {
	t.Helper()
	out, err := run(t, dir, nil, argv...)
	if err != nil {
		t.Fatalf("%q: %v\n%s", argv, err, out)
	}
	return out
}

// source returns a repository with what a release changes, and its remote.
func source(t *testing.T) (dir, remote string) {
	t.Helper()
	dir, remote = t.TempDir(), t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"README.md", "CHANGELOG.md", "action.yml", "host", "examples", "docs", "templates/help", "tools/release"} {
		must(t, root, "cp", "-R", "--parents", path, dir)
	}
	must(t, remote, "git", "init", "-q", "--bare", "-b", "main")
	must(t, dir, "git", "init", "-q", "-b", "main")
	must(t, dir, "git", "add", "-A")
	must(t, dir, "git", "commit", "-q", "-m", "source")
	must(t, dir, "git", "remote", "add", "origin", remote)
	must(t, dir, "git", "push", "-q", "origin", "main")
	must(t, dir, "tools/release/reopen.sh")
	return dir, remote
}

// releases returns a folder of releases as host/install.sh takes one, with the archive
// of this machine, and the release's list of checksums.
func releases(t *testing.T, version string) (folder, sums string) {
	t.Helper()
	folder = t.TempDir()
	dir := filepath.Join(folder, version)
	archive := fmt.Sprintf("ralph-%s-%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	must(t, folder, "mkdir", dir)
	must(t, dir, "sh", "-c", `printf '#!/bin/sh\necho "ralph $0"\n' >ralph && chmod 755 ralph && tar -czf "$1" ralph && rm ralph`, version, archive)
	text, err := os.ReadFile(filepath.Join(dir, archive))
	if err != nil {
		t.Fatal(err)
	}
	sums = filepath.Join(dir, "SHA256SUMS")
	list := fmt.Sprintf("%064d  ralph-linux-amd64.deb\n%x  %s\n", 0, sha256.Sum256(text), archive)
	if err := os.WriteFile(sums, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder, sums
}

// installed returns what host/install.sh of a checkout says.
func installed(t *testing.T, dir, folder string) (string, error) {
	t.Helper()
	temp := t.TempDir()
	return run(t, dir, []string{"RUNNER_TEMP=" + temp, "GITHUB_OUTPUT=" + filepath.Join(temp, "out"), "RALPH_RELEASES=file://" + folder}, "sh", "host/install.sh")
}

// The moving tag, the version and the commit of a release install its program, by
// the checksum that the commit carries.
func TestEveryPinInstallsItsRelease(t *testing.T) {
	t.Parallel()
	dir, remote := source(t)
	version := must(t, dir, "tools/release/notes.sh")
	folder, sums := releases(t, version)
	must(t, dir, "tools/release/push.sh", version, sums, image)

	commit := must(t, remote, "git", "rev-parse", version)
	for _, ref := range []string{"v1", version, commit} {
		checkout := t.TempDir()
		must(t, checkout, "git", "clone", "-q", remote, ".")
		must(t, checkout, "git", "checkout", "-q", "--detach", ref)
		if said, err := installed(t, checkout, folder); err != nil || !strings.HasPrefix(said, "ralph ") {
			t.Errorf("by %s: %v\n%s", ref, err, said)
		}
		action, err := os.ReadFile(filepath.Join(checkout, "action.yml"))
		if err != nil || !strings.Contains(string(action), "\n  image: docker://"+image+"\n") {
			t.Errorf("by %s action.yml does not have the image by its digest, %v", ref, err)
		}
	}

	// A release whose files and list were both swapped is refused.
	other, swapped := releases(t, version)
	archive := fmt.Sprintf("ralph-%s-%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	must(t, other, "sh", "-c", `printf x >>"$1/$2"; cd "$1" && sha256sum "$2" >SHA256SUMS`, "sh", version, archive)
	must(t, dir, "git", "checkout", "-q", "--detach", commit)
	if said, err := installed(t, dir, other); err == nil || !strings.Contains(said, "has the checksum") {
		t.Errorf("a swapped release (%s) was installed: %s", swapped, said)
	}
}

// A commit of main belongs to no release, and says so.
func TestACommitOfMainIsNoRelease(t *testing.T) {
	t.Parallel()
	dir, _ := source(t)
	if said, err := installed(t, dir, t.TempDir()); err == nil || !strings.Contains(said, "not a release") || !strings.Contains(said, "ralph: build") {
		t.Errorf("%v: %s", err, said)
	}
}

// A release takes "Not released" out of README.md on main, has pages and examples use it and
// dates the changelog, also where main has moved on. Nothing else of main changes,
// and no version tag ever moves.
func TestAReleaseLeavesItsTracesOnMain(t *testing.T) {
	t.Parallel()
	dir, remote := source(t)
	version := must(t, dir, "tools/release/notes.sh")
	_, sums := releases(t, version)
	tried := must(t, dir, "git", "rev-parse", "HEAD")
	must(t, dir, "git", "commit", "-q", "--allow-empty", "-m", "meanwhile")
	must(t, dir, "git", "push", "-q", "origin", "main")
	must(t, dir, "git", "checkout", "-q", tried)
	must(t, dir, "tools/release/push.sh", version, sums, image)

	changed := must(t, remote, "git", "diff", "--name-only", tried, "main", "--", ".", ":!examples", ":!docs", ":!templates/help")
	if changed != "CHANGELOG.md\nREADME.md" && changed != "CHANGELOG.md" {
		t.Errorf("changed on main: %q", changed)
	}
	if left, err := run(t, remote, nil, "git", "grep", "-E", "ralph-loop/ralph(/host)?@main|ralph: build|until the first release$", "main", "--", "examples", "docs", "templates"); err == nil || left != "" {
		t.Errorf("examples still build ralph: %v\n%s", err, left)
	}
	examples := must(t, remote, "git", "ls-tree", "--name-only", "main:examples")
	if uses := must(t, remote, "git", "grep", "-l", "uses: ralph-loop/ralph/host@v1$", "main:examples"); strings.Count(uses, "\n") != strings.Count(examples, "\n") {
		t.Errorf("examples that use the release: %s", uses)
	}
	readme := must(t, remote, "git", "show", "main:README.md")
	if strings.Contains(strings.ToLower(readme), "not released") || strings.Contains(readme, "ralph: build") || !strings.Contains(readme, "uses: ralph-loop/ralph/host@v1\n") {
		t.Errorf("README.md still says that there is no release: %s", readme)
	}
	if subjects := must(t, remote, "git", "log", "--format=%s", "main"); !strings.Contains(subjects, "meanwhile") {
		t.Errorf("main lost a commit: %s", subjects)
	}
	if parent := must(t, remote, "git", "rev-parse", version+"~2"); parent != tried {
		t.Errorf("the release is built on %s, want %s", parent, tried)
	}
	must(t, dir, "git", "checkout", "-q", tried)
	if said, err := run(t, dir, nil, "tools/release/push.sh", version, sums, image+"4"); err == nil {
		t.Errorf("%s was released twice: %s", version, said)
	}
}

// A release whose job failed after the push goes on when it is started again.
func TestAReleaseIsPushedOnce(t *testing.T) {
	t.Parallel()
	dir, remote := source(t)
	version := must(t, dir, "tools/release/notes.sh")
	_, sums := releases(t, version)
	tried := must(t, dir, "git", "rev-parse", "HEAD")
	must(t, dir, "tools/release/push.sh", version, sums, image)
	refs := must(t, remote, "git", "for-each-ref")
	must(t, dir, "git", "checkout", "-q", "--detach", tried)
	must(t, dir, "tools/release/push.sh", version, sums, image)
	if again := must(t, remote, "git", "for-each-ref"); again != refs {
		t.Errorf("it was\n%s\nand is\n%s", refs, again)
	}
}

// v1 goes to a newer version and never back to a fix of an older one, which is made
// on a branch of its own and leaves main alone. What is the newest is of main.
func TestTheMovingTagOnlyMovesOn(t *testing.T) {
	t.Parallel()
	dir, remote := source(t)
	version := must(t, dir, "tools/release/notes.sh")
	_, sums := releases(t, version)
	release := func(branch, from, version string) (string, error) {
		must(t, dir, "git", "checkout", "-q", "-B", branch, from)
		must(t, dir, "sed", "-i", "0,/^## /s//## ["+version[1:]+"] - Unreleased\\n\\n### Fixed\\n\\n- it\\n\\n&/", "CHANGELOG.md")
		must(t, dir, "git", "commit", "-q", "-a", "-m", "changes")
		if branch == "main" {
			must(t, dir, "git", "push", "-q", "origin", "main")
		}
		must(t, dir, "git", "checkout", "-q", "--detach")
		return run(t, dir, nil, "tools/release/push.sh", version, sums, image)
	}
	must(t, dir, "tools/release/push.sh", version, sums, image)
	for _, next := range []string{"v0.90.0", "v0.100.0"} {
		must(t, dir, "git", "fetch", "-q", "origin")
		if said, err := release("main", "origin/main", next); err != nil {
			t.Fatalf("%s: %v\n%s", next, err, said)
		}
	}
	main := must(t, remote, "git", "rev-parse", "main")
	if said, err := release("fix", "v0.90.0~1", "v0.90.1"); err != nil {
		t.Errorf("a fix of an older version: %v\n%s", err, said)
	}
	if said, err := release("stray", "v0.90.0~1", "v0.101.0"); err == nil || !strings.Contains(said, "is not on main") {
		t.Errorf("a branch became the newest release: %v\n%s", err, said)
	}
	if tags := must(t, remote, "git", "tag", "--list", "v0.90.1", "v0.101.0"); tags != "v0.90.1" {
		t.Errorf("tags of branches: %q", tags)
	}
	if v1, want := must(t, remote, "git", "rev-parse", "v1"), must(t, remote, "git", "rev-parse", "v0.100.0"); v1 != want {
		t.Errorf("v1 is at %s, want %s of v0.100.0", v1, want)
	}
	if now := must(t, remote, "git", "rev-parse", "main"); now != main {
		t.Errorf("main has moved to %s", now)
	}
}

// The notes of a release are its section of the changelog, whose form is that of
// Keep a Changelog.
func TestNotes(t *testing.T) {
	t.Parallel()
	newest := must(t, ".", "./notes.sh")
	notes := must(t, ".", "./notes.sh", newest)
	if strings.Contains(notes, "\n## ") || !strings.Contains(notes, "### Added") {
		t.Errorf("the notes of %s are\n%s", newest, notes)
	}
	if said, err := run(t, ".", nil, "./notes.sh", "v999.0.0"); err == nil {
		t.Errorf("there are notes of no version: %s", said)
	}
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	form := regexp.MustCompile(`^(# Changelog|## \[Unreleased\]|## \[\d+\.\d+\.\d+\] - (Unreleased|\d{4}-\d\d-\d\d)|### (Added|Changed|Deprecated|Removed|Fixed|Security))$`)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimRight(line, "\n"); strings.HasPrefix(line, "#") && !form.MatchString(line) {
			t.Errorf("CHANGELOG.md has the heading %q", line)
		}
	}
	if !strings.Contains(string(text), "\n## [0.1.0]") {
		t.Error("CHANGELOG.md does not begin with 0.1.0")
	}
}

// README.md says that there is no release for as long as that is so, and until then every workflow
// that a page shows uses ralph from main.
func TestTheBoxStandsUntilTheFirstRelease(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	changes, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	published := regexp.MustCompile(`(?m)^## \[\d+\.\d+\.\d+\] - \d`).Match(changes)
	box := strings.Contains(string(readme), "\n> <!-- not released -->\n") && strings.Contains(string(readme), "\n> <!-- /not released -->\n")
	if box == published {
		t.Errorf("published: %t, and README.md has the box: %t", published, box)
	}
	want := "main"
	if published {
		want = "v1"
	}
	uses := regexp.MustCompile(`uses: ralph-loop/ralph(?:/host)?@(\S+)`)
	for _, pattern := range []string{"README.md", "docs/*.md", "templates/help/*.txt", "examples/*.yml"} {
		pages, err := filepath.Glob("../../" + pattern)
		if err != nil || len(pages) == 0 {
			t.Fatalf("%d pages of %s, %v", len(pages), pattern, err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, used := range uses.FindAllStringSubmatch(string(text), -1) {
				if used[1] != want {
					t.Errorf("%s uses ralph@%s, want @%s", page, used[1], want)
				}
			}
		}
	}
}

// Workflows and examples pin each action by its commit, with the version behind
// it. They use ralph from main, and examples use v1 from the first release on.
func TestWorkflowsPinWhatTheyUse(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d workflows, %v", len(files), err)
	}
	examples, err := filepath.Glob("../../examples/*.yml")
	if err != nil || len(examples) == 0 {
		t.Fatalf("%d examples, %v", len(examples), err)
	}
	files = append(files, examples...)
	pinned := regexp.MustCompile(`^(\S+@[0-9a-f]{40} # v\d+\.\d+\.\d+( # until the first release)?|ralph-loop/ralph/host@(main|v1))$`)
	uses := regexp.MustCompile(`(?m)^ *(?:- )?uses: (.*)$`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, used := range uses.FindAllStringSubmatch(string(text), -1) {
			if !pinned.MatchString(used[1]) {
				t.Errorf("%s uses %s", filepath.Base(file), used[1])
			}
		}
	}
}

// The Marketplace wants an unused name, a short description, and an icon and a
// color of its lists.
func TestMarketplace(t *testing.T) {
	t.Parallel()
	action, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{`name: "Ralph: issue to proven pull request"`, "branding: {icon: repeat, color: green}"} {
		if !strings.Contains(string(action), line+"\n") {
			t.Errorf("action.yml lacks %s", line)
		}
	}
	description := regexp.MustCompile(`(?m)^description: (.*)$`).FindSubmatch(action)
	if len(description) != 2 || len(description[1]) > 125 {
		t.Errorf("the description is %q: GitHub takes 125 characters", description)
	}
	for _, file := range []string{"CODE_OF_CONDUCT.md", "SUPPORT.md", "SECURITY.md", ".github/PULL_REQUEST_TEMPLATE.md", ".github/ISSUE_TEMPLATE/bug.yml", ".github/ISSUE_TEMPLATE/feature.yml", ".github/dependabot.yml"} {
		if info, err := os.Stat(filepath.Join("../..", file)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// For Windows, which has no sandbox of ours, the program is one file that says to
// use WSL2; make release-check builds it.
func TestWindowsIsToldOfWSL(t *testing.T) {
	t.Parallel()
	files, err := run(t, "../..", []string{"GOOS=windows"}, "go", "list", "-f", "{{.GoFiles}}", "./cmd/ralph")
	if err != nil || files != "[windows.go]" {
		t.Errorf("the program for Windows is made of %s, %v", files, err)
	}
	text, err := os.ReadFile("../../cmd/ralph/windows.go")
	if err != nil || !strings.Contains(string(text), "install ralph in WSL2") {
		t.Errorf("it does not name WSL2, %v", err)
	}
}
