package sandbox_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/testsupport/short"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

const (
	sessions = `{"login": 1, "servers": {"mine": {"run": "x"}}, "projects": {"/p": {"trusted": true, "seen": 1}}}`
	evil     = `{"run": "evil"}`
)

// Of a file in which an agent keeps its login and what it starts, it writes the first,
// and all else is put back.
func TestFieldsArePutBack(t *testing.T) {
	for name, test := range map[string]struct{ was, script, want string }{
		"its own":           {sessions, `echo '{"login":2,"servers":{"mine":{"run":"x"}},"projects":{"/p":{"trusted":true,"seen":2},"/q":{"seen":1}}}' >f`, `{"login":2,"servers":{"mine":{"run":"x"}},"projects":{"/p":{"trusted":true,"seen":2},"/q":{"seen":1}}}` + "\n"},
		"one more":          {sessions, `echo '{"login":2,"servers":{"mine":{"run":"x"},"theirs":` + evil + `}}' >f`, settled},
		"another":           {sessions, `echo '{"login":2,"servers":{"mine":` + evil + `},"projects":7}' >f`, settled},
		"none any more":     {sessions, `echo '{"login":2}' >f`, settled},
		"no login":          {sessions, `echo '{"servers":{"mine":{"run":"x"}},"projects":{"/p":{"trusted":true,"seen":1}}}' >f`, `{"servers":{"mine":{"run":"x"}},"projects":{"/p":{"trusted":true,"seen":1}}}` + "\n"},
		"of a new version":  {sessions, `echo '{"login":2,"startsToo":"x","servers":{"mine":{"run":"x"}},"projects":{"/p":{"trusted":true}}}' >f`, settled},
		"in a project":      {`{"a": 1}`, `echo '{"a":2,"projects":{"/p":{"trusted":true,"seen":1}}}' >f`, "{\n  \"a\": 2,\n  \"projects\": {\n    \"/p\": {\n      \"seen\": 1\n    }\n  }\n}\n"},
		"said to be none":   {`{"a":1}`, `echo '{"a":1,"servers":{}}' >f`, `{"a":1,"servers":{}}` + "\n"},
		"behind comments":   {"// by it\n{\"a\":1}", `printf '// x\r{"servers":` + evil + `}\n' >f`, "{}\n"},
		"no JSON":           {sessions, `echo '{"servers":' >f`, sessions},
		"twice":             {sessions, `echo '{"login":2} {"servers":` + evil + `}' >f`, sessions},
		"with a rest":       {sessions, `echo evil >>f`, sessions},
		"a link":            {sessions, `echo '{"servers":` + evil + `}' >g; rm f; ln -s g f`, sessions},
		"a folder":          {sessions, `rm f; mkdir f`, sessions},
		"gone":              {sessions, `rm f`, sessions},
		"another name":      {sessions, `ln f g`, sessions},
		"there was none":    {"", `echo '{"login":1,"servers":` + evil + `}' >f`, "{\n  \"login\": 1\n}\n"},
		"none, and no JSON": {"", `echo '{"servers":' >f`, ""},
	} {
		for _, level := range connected() {
			if !short.Has(string(level) + " " + name) {
				continue
			}
			w := testConfig(t, level, users()[0])
			file := filepath.Join(w.Write[0], "f")
			if test.was != "" {
				inside(t, w, process.Command{Argv: []string{"sh", "-c", `printf %s "$1" >f`, "sh", test.was}})
			}
			w.Fields = map[string][]string{file: {"log*", "a", "projects.*.seen"}}
			told := 0
			w.Mended = func(paths []string) { told += len(paths) }
			inside(t, w, process.Command{Argv: []string{"sh", "-c", test.script}})
			got, err := os.ReadFile(file)
			if diff := cmp.Diff(test.want, string(got)); diff != "" || err != nil && test.want != "" {
				t.Errorf("%s, level %s: %v (-want +got):\n%s", name, level, err, diff)
			}
			if info, err := os.Lstat(file); err == nil && untrusted.Names(info) != 1 {
				t.Errorf("%s, level %s: it has another name", name, level)
			}
			if same := name == "its own" || name == "no login" || name == "said to be none"; same != (told == 0) {
				t.Errorf("%s, level %s: told of %d", name, level, told)
			}
		}
	}
}

// settled is sessions with another login, as it is written anew.
const settled = `{
  "login": 2,
  "projects": {
    "/p": {
      "trusted": true
    }
  },
  "servers": {
    "mine": {
      "run": "x"
    }
  }
}
`

// A file that is all of what they write to has its folder outside.
func TestFieldsOfAFileAlone(t *testing.T) {
	for _, level := range connected() {
		w := testConfig(t, level, users()[0])
		file := filepath.Join(folder(t, os.Geteuid()), "f.json")
		write(t, file, `{"a":1}`)
		open(t, file)
		w.Write, w.Fields = append(w.Write, file), map[string][]string{file: {"a"}}
		out, _ := inside(t, w, process.Command{Argv: []string{"sh", "-c", `echo '{"a":2,"servers":` + evil + `}' >` + file}})
		if got := read(t, file); got != "{\n  \"a\": 2\n}\n" {
			t.Errorf("level %s: %s%s", level, out, got)
		}
	}
}
