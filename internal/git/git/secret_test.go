package git_test

import (
	"bytes"
	"strings"
	"testing"
)

// Commits with a secret in any place are refused, and the refusal does not contain
// the secret.
func TestTakeRefusesSecrets(t *testing.T) {
	const secret = "the-secret"
	for name, files := range map[string]map[string]string{
		"in a file":        {"a": "x\n" + secret + "\n"},
		"in a name":        {"x-" + secret + ".txt": "x"},
		"in a folder":      {secret + "/a": "x"},
		"in a large file":  {"a": strings.Repeat("x\n", 1<<20) + secret},
		"in a message":     nil,
		"in a link":        nil,
		"in mid-history":   nil,
		"by who made it":   nil,
		"nowhere any more": {"a": "x"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			switch name {
			case "in a message":
				l.commit("x\n\n"+secret, map[string]string{"a": "1"})
			case "in a link":
				link(secret)(l)
			case "in mid-history":
				l.commit("x", map[string]string{"a": secret})
				l.commit("y", map[string]string{"a": ""})
			case "by who made it":
				l.agent("-c", "user.name=x", "commit", "-q", "--allow-empty", "-m", "x", "--author="+secret+" <a@example.com>")
			default:
				l.commit("x", files)
			}
			terms := l.terms()
			terms.Secret = func(text []byte) bool { return bytes.Contains(text, []byte(secret)) }
			got := l.take(terms)
			if refused := len(got.Refused) > 0; refused == (name == "nowhere any more") {
				t.Errorf("Take = %+v", got)
			}
			for _, finding := range got.Refused {
				if strings.Contains(finding.Path+finding.Why, secret) {
					t.Errorf("the refusal says it: %+v", finding)
				}
			}
		})
	}
}
