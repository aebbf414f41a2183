package confine_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/confine"
)

// Of a login that an agent wrote, the user gets new tokens and nothing else.
func TestTokensComeBack(t *testing.T) {
	const younger = `{"o":{"accessToken":"b","expiresAt":1700000000002}}`
	for name, test := range map[string]struct{ users, boxes, want string }{ // no want: unchanged
		"tokens":       {`{"o":{"accessToken":"a","expiresAt":1700000000001}}`, younger, younger},
		"other fields": {`{"plan":"x","refresh":"a"}`, `{"plan":"y","refresh":"b"}`, `{"plan":"x","refresh":"b"}`},
		"new fields":   {`{"access":"a"}`, `{"access":"b","refresh":"c","helper":"d"}`, `{"access":"b"}`},
		"other types": {
			`{"access":null,"expires":1,"id_token":"a","token":true,"tokens":{"access":"b"}}`,
			`{"access":"c","expires":"d","id_token":2,"token":3,"tokens":"e"}`, "",
		},
		"addresses": {
			`{"access":"https://a.example","refresh":"b","token_uri":"c"}`,
			`{"access":"d","refresh":"https://e.example","token_uri":"f"}`, "",
		},
		"no JSON":  {`{"access":"a"}`, `access`, ""},
		"no login": {`access`, `{"access":"b"}`, ""},
	} {
		got := confine.WithTokens(test.users, test.boxes)
		if test.want == "" && got != test.users || test.want != "" && flat(got) != test.want {
			t.Errorf("%s: it is %s, want %s", name, got, test.want)
		}
	}
}

func flat(text string) string {
	var one bytes.Buffer
	if json.Compact(&one, []byte(text)) != nil {
		return text
	}
	return one.String()
}

func TestSelectedFields(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": {"x": 1}, "b": 2, "c": 3}`: `{"a":{"x":1},"c":3}`, `{"b": 2}`: "{}", "[]": "{}", "no JSON": "{}",
	} {
		if got := confine.Selected(text, []string{"a", "c", "d"}); flat(got) != want || confine.Selected(text, nil) != text {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// New tokens come to the other side, and no way that programs inside made leads to other files.
func TestLoginsOfBothSides(t *testing.T) {
	const (
		login    = `{"mcp":{"token":"s"},"o":{"access":"a"}}`
		newLogin = `{"mcp":{"token":"s"},"o":{"access":"b"}}`
		evil     = `{"mcp":{"token":"b"},"o":{"access":"a"}}`
		secret   = `{"access":"s","o":{"access":"s"}}`
	)
	for name, test := range map[string]struct {
		boxes      string // what they write
		link       string // to the user's other files: the file, or its folder
		isOlder    bool   // than the user's
		own, users string // afterwards
	}{
		"nothing":              {"", "", false, `{"o":{"access":"a"}}`, login},
		"a token":              {`{"o":{"access":"b"}}`, "", false, `{"o":{"access":"b"}}`, newLogin},
		"the user's":           {`{"o":{"access":"b"}}`, "", true, `{"o":{"access":"a"}}`, login},
		"another field":        {evil, "", false, evil, login},
		"the user's other":     {`{"mcp":{"token":"b"},"o":{"access":"b"}}`, "", true, evil, login},
		"a link":               {"", "f", false, secret, login},
		"such a link to older": {"", ".", true, secret, login},
	} {
		home, other, dir := t.TempDir(), t.TempDir(), t.TempDir()
		from, users := filepath.Join(home, "f"), filepath.Join(home, "linked")
		others, own := filepath.Join(other, "f"), filepath.Join(dir, "home", "a", "f")
		err := errors.Join(
			os.WriteFile(users, []byte(login), 0o600), os.Symlink("linked", from), os.WriteFile(others, []byte(secret), 0o600))
		compare, failed := confine.Bring(agent.HomeFile{File: "a/f", From: from, Fields: []string{"o"}, IsLogin: true}, filepath.Join(dir, "home"))
		err = errors.Join(err, failed)
		if test.boxes != "" {
			err = errors.Join(err, os.WriteFile(own, []byte(test.boxes), 0o600))
		}
		switch test.link {
		case "f":
			err = errors.Join(err, os.Remove(own), os.Symlink(others, own))
		case ".":
			err = errors.Join(err, os.RemoveAll(filepath.Dir(own)), os.Symlink(other, filepath.Dir(own)))
		}
		if test.boxes+test.link != "" {
			later := time.Now().Add(time.Minute)
			err = errors.Join(err, os.Chtimes(own, later, later))
			if test.isOlder {
				later = later.Add(time.Minute)
				err = errors.Join(err, os.Chtimes(users, later, later))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		compare()
		for path, want := range map[string]string{users: test.users, own: test.own, others: secret} {
			if got, err := os.ReadFile(path); flat(string(got)) != want || err != nil {
				t.Errorf("%s: %s has %s, %v, want %s", name, path, got, err, want)
			}
		}
		if to, err := os.Readlink(own); test.link == "f" && to != others {
			t.Errorf("%s: its link is gone: %v", name, err)
		}
	}
}
