package main_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// modelKey is a secret of no shape that anybody knows: only its value tells.
const modelKey = "canary/Model+Key=of:no-one&47"

// formsOf returns a secret as somebody may write it who wants it seen.
func formsOf(secret string) map[string]string {
	return map[string]string{
		"as it is":              secret,
		"in base64":             base64.StdEncoding.EncodeToString([]byte(secret)),
		"in base64 of the web":  base64.RawURLEncoding.EncodeToString([]byte(secret)),
		"in base64 with a name": base64.StdEncoding.EncodeToString([]byte("x-access-token:" + secret)),
		"in hex":                hex.EncodeToString([]byte(secret)),
		"in large hex":          strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"in a query":            url.QueryEscape(secret),
		"in a path":             url.PathEscape(secret),
		"as an address":         "https://x:" + url.QueryEscape(secret) + "@e.example/",
	}
}

// An agent that knows a secret says it in every form, in all places that people
// look at or that are kept: it is in none of them.
func TestNoSecretIsSeenAnywhere(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{token, modelKey} {
		t.Run(secret[:6], func(t *testing.T) {
			t.Parallel()
			var said []string
			for name, form := range formsOf(secret) {
				said = append(said, name+": "+form)
			}
			s := newIssueJob(t, func(s *issueJob) { s.telling(strings.Join(said, "; ")) })
			s.end(s.begin("SET_limits.maxIterations=2", "INPUT_ANTHROPIC-API-KEY="+modelKey, "ANTHROPIC_API_KEY="+modelKey, "INPUT_CHECKS=sh check.sh; cat told; ! test -e told"))
			if err := os.Remove(s.path("script.txtar")); err != nil { // that is where the agent has it from
				t.Fatal(err)
			}
			for place, text := range s.everything() {
				for name, form := range formsOf(secret) {
					if before, _, found := strings.Cut(text, form[:len(strings.TrimRight(form, "="))-1]); found {
						t.Errorf("%s holds it %s, after %q", place, name, before[max(0, len(before)-300):])
					}
				}
			}
		})
	}
}

// masked is what the runner is told to hide.
var masked = regexp.MustCompile(`(?m)^::add-mask::.*$`)

func (s *issueJob) telling(words string) {
	s.t.Helper()
	script := fmt.Sprintf(`telling
-- 1/say --
%[1]s
-- 1/tool --
Bash: echo %[1]s => %[1]s
-- 1/progress --
%[1]s
-- 1/run --
cat >told <<'end'
%[1]s
end
cat told
git add told
git -c user.name='%[1]s' -c user.email=a@example.com commit -q -F told
-- 1/claim --
US-001: %[1]s
-- 2/run --
git rm -q told
-- 2/claim --
US-001: %[1]s
-- 2/commit --
%[1]s
`, words)
	if err := write(s.path("script.txtar"), []byte(script)); err != nil {
		s.t.Fatal(err)
	}
}

// everything returns all that anybody gets to see or that is kept, by its place.
func (s *issueJob) everything() map[string]string {
	s.t.Helper()
	all := map[string]string{"what was pushed": s.must("log", "--all", "-p", "--format=fuller")}
	for _, pull := range s.Pulls(shop) {
		all["the pull request"] = pull.Title + "\n" + pull.Body
	}
	for _, comment := range s.Comments(shop, s.issue) {
		all["the comment"] += comment.Body
	}
	err := filepath.WalkDir(s.dir, func(path string, entry fs.DirEntry, err error) error {
		// Output that stays with the agent is not searched.
		if err != nil || !entry.Type().IsRegular() || strings.Contains(path, "/work/tree/") || strings.Contains(path, ".git/") {
			return err
		}
		text, err := os.ReadFile(path)
		place, _ := filepath.Rel(s.dir, path)
		all[place] = masked.ReplaceAllString(string(text), "")
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}
