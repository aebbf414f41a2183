package main_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// mayWorkflows lets the job's token write workflows.
func (v *scriptGitHub) mayWorkflows([]string) (string, error) {
	may := githubtest.WriteAll()
	may["workflows"] = "write"
	v.AddToken(token, githubtest.Token{Login: bot, Kind: githubtest.Installation, Repos: []string{shop}, Permissions: may})
	return "", nil
}

// onlyPusher LOGIN TOKEN has a person be the only one who may push to branches.
func (v *scriptGitHub) onlyPusher(args []string) (string, error) {
	v.AddToken(args[1], githubtest.Token{Login: args[0], Kind: githubtest.Personal, Repos: []string{shop}, Permissions: githubtest.WriteAll()})
	v.keepGate(func(push githubtest.Push) string {
		if strings.HasPrefix(push.Ref, "refs/heads/") && push.Actor != args[0] {
			return "only " + args[0] + " may push"
		}
		return ""
	})
	return "", nil
}

// callsOf LOGIN are the calls of the API by which somebody changed something.
func (v *scriptGitHub) callsOf(args []string) (string, error) {
	var text strings.Builder
	for _, call := range v.Requests() {
		if call.Actor == args[0] && call.Method != http.MethodGet {
			fmt.Fprintf(&text, "%s %s\n", call.Method, call.Path)
		}
	}
	return text.String(), nil
}

// byHand FOLDER BRANCH [later|anew] has Ada commit the files of a folder on top
// of a branch and push that: now, or before the next push there once the branch
// is there; anew: instead of all that the branch holds.
func (v *scriptGitHub) byHand(args []string) (string, error) {
	how := ""
	if len(args) > 2 {
		how = args[2]
	}
	if how != "later" {
		return "", v.pushByHand(args[0], args[1], how == "anew")
	}
	var once sync.Once
	v.rival = func(branch string) {
		if branch != args[1] {
			return
		}
		once.Do(func() {
			if err := v.pushByHand(args[0], branch, false); err != nil {
				v.violated(err)
			}
		})
	}
	return "", nil
}

func (v *scriptGitHub) pushByHand(folder, branch string, anew bool) error {
	dir, err := os.MkdirTemp(v.dir, "by-hand-")
	if err != nil {
		return err
	}
	if _, err := tryGit(context.Background(), dir, "clone", "--quiet", "--branch="+branch, v.bare(), "."); err != nil {
		return err
	}
	if anew {
		if _, err := tryGit(context.Background(), dir, "checkout", "--quiet", "--orphan", "anew"); err != nil {
			return err
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "new"), os.DirFS(v.path(folder))); err != nil {
		return err
	}
	script := "cp -R new/. . && rm -r new && git add --all && git commit --quiet -m 'by hand' && git push --quiet --force origin HEAD:" + branch
	_, err = tryGit(context.Background(), dir, "-c", "alias.go=!"+script, "go")
	return err
}

// reconcile BRANCH OTHER has Ada merge one branch into the other, and push; what
// they contradict each other in stays as BRANCH has it.
func (v *scriptGitHub) reconcile(args []string) (string, error) {
	dir, err := os.MkdirTemp(v.dir, "by-hand-")
	if err != nil {
		return "", err
	}
	for _, call := range [][]string{
		{"clone", "--quiet", "--branch=" + args[0], v.bare(), "."},
		{"merge", "--quiet", "--strategy-option=ours", "--message=both", "origin/" + args[1]},
		{"push", "--quiet", "origin", "HEAD:" + args[0]},
	} {
		if _, err := tryGit(context.Background(), dir, call...); err != nil {
			return "", err
		}
	}
	return "", nil
}
