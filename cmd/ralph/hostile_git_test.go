package main_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

const (
	marked   = `echo '* filter=evil diff=evil merge=evil' >>.git/info/attributes; `
	watching = `printf '[core]\n\tfsmonitor = EVIL\n' >`
	missing  = `git rm -qr --cached .; echo gone >gone.txt; git add gone.txt; git commit -qm gone
id=$(git rev-parse HEAD:gone.txt); rm -f .git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-); rm gone.txt; `
)

// gitVectors are ways to have git do something for the author of its tree, by what the agent leaves in
// the tree's repository. The test puts in the words in capitals: EVIL is a program that leaves a file in
// the folder CANARY, SINK is where credentials would be heard, REMOTE is the repository on GitHub, AT a
// folder of the agent's own.
var gitVectors = []string{
	`git config core.fsmonitor EVIL`,
	asHooks("AT/hooks") + `; git config core.hooksPath AT/hooks`,
	asHooks(".git/hooks"),
	marked + `git config filter.evil.clean EVIL; echo 2 >>README.md`,
	marked + `git config filter.evil.smudge EVIL; git config filter.evil.required true`,
	marked + `git config filter.evil.process EVIL; echo 2 >>README.md`,
	`git config diff.external EVIL; echo 2 >>README.md`,
	marked + `git config diff.evil.textconv EVIL; echo 2 >>README.md`,
	marked + `git config diff.evil.command EVIL; echo 2 >>README.md`,
	marked + `git config merge.evil.driver EVIL`,
	`git config gpg.program EVIL; git config commit.gpgSign true`,
	`git config core.editor EVIL`,
	`git config core.sshCommand EVIL; git config remote.origin.url ssh://missing.invalid/x`,
	`git config core.gitProxy EVIL; git config remote.origin.url git://missing.invalid/x`,
	`git config core.alternateRefsCommand EVIL`,
	`git config trailer.x.key X; git config trailer.x.command EVIL; git config trailer.x.ifmissing add`,
	`git config remote.origin.url "$PWD"; git config remote.origin.uploadpack EVIL`,
	`git config remote.origin.url 'ext::EVIL'; git config protocol.ext.allow always`,
	watching + `AT/more; git config include.path AT/more`,
	`git config extensions.worktreeConfig true; ` + watching + `.git/config.worktree`,
	`git config url.SINK/.insteadOf REMOTE`,
	`git config url.SINK/.pushInsteadOf REMOTE`,
	`git config http.proxy SINK`,
	`git config remote.REMOTE.url SINK/x.git`,
	`git config credential.helper '!EVIL'`,
}

// gitVectorsAlone leave a repository in which others could not be laid, by their names.
var gitVectorsAlone = map[string]string{
	"lazy fetch": missing + `git config core.repositoryFormatVersion 1; git config extensions.partialClone evil; git config remote.evil.promisor true;
git config remote.evil.url 'ext::EVIL'; git config protocol.ext.allow always`,
	"core.worktree":  `git config core.worktree CANARY`,
	".git as a file": `mv .git AT/git; echo "gitdir: AT/git" >.git; ` + watching + `AT/git/config`,
	".git as a link": `mv .git AT/git; ln -s AT/git .git; ` + watching + `AT/git/config`,
	"commondir":      `cp -r .git AT/common; echo AT/common >.git/commondir; ` + watching + `AT/common/config`,
	"submodule.update": `git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; git config submodule.sub.update '!EVIL'; git config submodule.sub.url "$PWD";
printf '[submodule "sub"]\n\tpath = sub\n\turl = ./x\n' >.gitmodules`,
}

// asHooks leaves the vector's program as every hook in dir.
func asHooks(dir string) string {
	return `mkdir -p ` + dir + `; for hook in pre-commit post-commit post-checkout post-index-change reference-transaction post-rewrite; do cp EVIL ` + dir + `/$hook; done`
}

// A whole job, in which the agent leaves vectors in its tree's repository: they
// set nothing off, and the token goes to GitHub alone. There is no sandbox,
// which would hide that something ran.
func TestTheVectorsOfATreeDoNotGoOffInARun(t *testing.T) {
	t.Parallel()
	runs := map[string]string{"all together": strings.Join(gitVectors, "\n")}
	maps.Copy(runs, gitVectorsAlone)
	for name, plant := range runs {
		if !short.Has(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var asked atomic.Int32
			sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.WriteHeader(http.StatusTeapot)
			}))
			t.Cleanup(sink.Close)
			evil, canary := filepath.Join(dir, "evil"), filepath.Join(dir, "canary")
			s := newIssueJob(t, func(s *issueJob) {
				s.write(filepath.Join(canary, "x"), "")
				s.write(filepath.Join(dir, "at", "x"), "")
				s.write(evil, fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" >>%s/ran\nexit 1\n", canary))
				if err := os.Chmod(evil, 0o755); err != nil {
					t.Fatal(err)
				}
				words := strings.NewReplacer("EVIL", evil, "CANARY", canary, "SINK", sink.URL,
					"REMOTE", s.URL+"/"+shop+".git", "AT", filepath.Join(dir, "at"))
				s.write(s.path("script.txtar"), firstPart+"-- 1/run --\n"+words.Replace(plant)+"\n-- 2/say --\nnothing\n")
			})
			if code := s.end(s.begin("SET_limits.maxIterations=2")); code != 0 {
				t.Errorf("exit %d, want 0", code)
			}
			if count(s.entries())[journal.Type(journal.CommitsTaken{})] == 0 {
				t.Error("the run never looked at what the agent left")
			}
			if ran, err := os.ReadFile(filepath.Join(canary, "ran")); err == nil {
				t.Errorf("it went off: %s", ran)
			}
			if left, err := os.ReadDir(canary); err != nil || len(left) != 1 {
				t.Errorf("something was written into the canary: %v, %v", left, err)
			}
			if n := asked.Load(); n > 0 {
				t.Errorf("%d came to the sink", n)
			}
		})
	}
}

// firstPart does the work of the first iteration, and a workflow besides that has to be put back.
const firstPart = `-- 1/write/greet.sh --
echo "Hello${1:+, }$1!"
-- 1/write/tests/name.sh --
[ "$(sh greet.sh Ada)" = "Hello, Ada!" ]
-- 1/write/.github/workflows/ci.yml --
on: push
-- 1/claim --
US-001: done
-- 1/commit --
feat: [US-001] - greet by name
-- 1/write/README.md --
left as it is
`
