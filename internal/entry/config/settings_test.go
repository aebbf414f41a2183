package config_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/price"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

var update = flag.Bool("update", false, "rewrite testdata and the schemas")

// values has all settings, but not which keys were set.
var values = cmpopts.IgnoreUnexported(config.Settings{})

// An archive has the files, base first, and the result: the effective settings, or the
// error.
func TestReadSettings(t *testing.T) {
	stories(t, "testdata/settings/*.txtar", func(t *testing.T, files []config.File) string {
		t.Helper()
		s, err := config.ReadSettings(files...)
		if err != nil {
			return complaint(t, err)
		}
		return marshal(t, s)
	})
}

func stories(t *testing.T, pattern string, tell func(*testing.T, []config.File) string) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("Glob = %d files, %v, want some", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			given := slices.DeleteFunc(slices.Clone(archive.Files), func(f txtar.File) bool { return f.Name == "want" })
			var files []config.File
			for _, f := range given {
				files = append(files, config.File{Name: f.Name, Data: f.Data})
			}
			got := txtar.File{Name: "want", Data: []byte(tell(t, files))}
			want := archive.Files[len(archive.Files)-1]
			if *update {
				archive.Files = append(given, got)
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want.Data), string(got.Data)); diff != "" {
				t.Errorf("%s(-want +got):\n%s", archive.Comment, diff)
			}
		})
	}
}

func complaint(t *testing.T, err error) string {
	t.Helper()
	if got := fault.Exit(err); got != fault.ExitUsage {
		t.Errorf("Exit = %d, want %d", got, fault.ExitUsage)
	}
	return err.Error() + "\n"
}

func marshal(t *testing.T, s config.Settings) string {
	t.Helper()
	text, err := s.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func read(t *testing.T, files ...string) config.Settings {
	t.Helper()
	var all []config.File
	for _, data := range files {
		all = append(all, config.File{Name: "settings.json", Data: []byte(data)})
	}
	s, err := config.ReadSettings(all...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNoSettingsAreTheDefaults(t *testing.T) {
	want := config.Settings{
		MaximumIterations: 10, CompletionResponse: "DONE", OutputTruncateChars: 5000, StreamAgentOutput: true,
		Agent: config.Agent{Flags: []string{}}, Guardrails: []config.Guardrail{},
	}
	for name, got := range map[string]config.Settings{"no file": read(t), "an empty object": read(t, "{}")} {
		if diff := cmp.Diff(want, got, values); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestHasKnowsWhatWasSet(t *testing.T) {
	s := read(t, `{"streamAgentOutput": false, "limits": {"maxCost": 0}, "scm": null}`, `{"agent": {"flags": []}}`)
	for key, want := range map[string]bool{
		"streamAgentOutput": true, "limits": true, "agent": true, "maximumIterations": false, "guardrails": false, "scm": false,
	} {
		if got := s.Has(key); got != want {
			t.Errorf("Has(%q) = %t, want %t", key, got, want)
		}
	}
	if s.StreamAgentOutput || s.Limits.MaxCost == nil || *s.Limits.MaxCost != 0 {
		t.Errorf("settings = %+v, want no stream and no limit of dollars", s)
	}
}

func TestOverChangesWhatWasSet(t *testing.T) {
	const file = `{"maximumIterations": 0, "completionResponse": "FIN", "agent": {"model": "opus", "timeout": 90},
		"guardrails": [{"command": "make test", "failAction": "replace", "hint": "look", "timeout": "1m"}],
		"scm": {"command": "git", "tasks": ["commit"]}, "limits": {"maxCost": 2.5, "maxTime": "1h", "maxTokens": 7000, "stallAfter": 9}, "protect": ["go.mod"], "setup": ["npm ci"]}`
	preset := policy.ForPreset(policy.ByResponse)
	want := preset
	want.Word, want.Model, want.Protect = "FIN", "opus", []string{"go.mod"}
	want.Limits.Iterations, want.Limits.Run, want.Limits.Iteration = 0, 3600e9, 90e9
	want.Limits.CostUSD, want.Limits.Tokens, want.Limits.Stall = 2.5, 7000, 9
	want.Setup = policy.NewSetup([]string{"npm ci"}, policy.DefaultCheckTimeout)
	want.SCM = policy.SCM{Command: "git", Tasks: []string{"commit"}}
	want.Checks = []policy.Check{{
		Name: "make test", Command: "make test", Timeout: 60e9, FailAction: policy.Replace, Hint: "look",
	}}
	if diff := cmp.Diff(want, read(t, file).ApplyTo(preset)); diff != "" {
		t.Errorf("Over (-want +got):\n%s", diff)
	}
	for _, preset := range []policy.Done{policy.ByStories, policy.ByResponse, policy.ByTag} {
		if diff := cmp.Diff(policy.ForPreset(preset), read(t).ApplyTo(policy.ForPreset(preset)), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("Over without settings changes %s (-want +got):\n%s", preset, diff)
		}
	}
}

// 0 is no limit, except for an excerpt, which must fit a prompt.
func TestNothingIsTruncatedAtZero(t *testing.T) {
	for file, want := range map[string]int{`{"outputTruncateChars": 0}`: 1_000_000, `{"outputTruncateChars": 1e9}`: 1_000_000, `{"outputTruncateChars": 1}`: 1, `{}`: 5000} {
		if got := read(t, file).ApplyTo(policy.ForPreset(policy.ByResponse)).Excerpt.Chars; got != want {
			t.Errorf("%s: %d characters, want %d", file, got, want)
		}
	}
}

// A cache without a price costs as much as input.
func TestPricesAreThePayers(t *testing.T) {
	options, err := read(t, `{"agent": {"prices": {"old": {"input": 9, "output": 9}}}}`,
		`{"agent": {"prices": {"m": {"input": 1.5, "output": 3, "cacheRead": 0}, "old": {"input": 9, "output": 2}}}}`).Agent.Options()
	want := map[string]price.Rate{
		"m":   {Input: 1.5, Output: 3, CacheWrite: 1.5},
		"old": {Input: 9, Output: 2, CacheRead: 9, CacheWrite: 9},
	}
	if diff := cmp.Diff(want, options.Prices); diff != "" || err != nil {
		t.Errorf("Options: %v (-want +got):\n%s", err, diff)
	}
}

func TestSecretsAreHidden(t *testing.T) {
	s := read(t, `{"agent": {"flags": ["--header ghp_0123456789abcdefghij"]}, "scm": {"command": "git", "tasks": ["push"]}}`)
	got, err := s.Show()
	if err != nil || strings.Contains(got, "ghp_") || !strings.Contains(got, `"git"`) {
		t.Errorf("Show: %v\n%s", err, got)
	}
	_, err = config.ReadSettings(config.File{Name: "s.json", Data: []byte(`{"agent": {"flags": ["--header ghp_0123456789abcdefghij 'open"]}}`)})
	if err == nil || strings.Contains(err.Error(), "ghp_") {
		t.Errorf("ReadSettings: %v, want an error without the key", err)
	}
}

func TestManyProblemsAreCounted(t *testing.T) {
	_, err := config.ReadSettings(config.File{Name: "s.json", Data: []byte(`{"protect":[` + strings.Repeat("1,", 150) + `1]}`)})
	if lines := strings.Split(err.Error(), "\n"); len(lines) != 102 || lines[101] != "and 51 more" {
		t.Errorf("%d lines, the last %q, want a summary, 100 problems and how many are left out", len(lines), lines[len(lines)-1])
	}
}

func FuzzReadSettings(f *testing.F) {
	f.Add([]byte(`{"agent":{"command":"claude","flags":["--model opus"],"timeout":90}}`), []byte(`{"agent":{"flags":null}}`))
	f.Add([]byte(`{"guardrails":[{"command":"make","failAction":"append","timeout":"1m30s"}],"limits":{"maxCost":0.5}}`), []byte(`{}`))
	f.Add([]byte(`{"scm":{"tasks":["push"]},"sandbox":{"allowDomains":[]}}`), []byte(`{"scm":{"command":"git"}}`))
	f.Add([]byte("\uFEFF{\"protect\":[\"a/{b,c}/**\"],}"), []byte(`[]`))
	f.Fuzz(func(t *testing.T, base, local []byte) {
		s, err := config.ReadSettings(config.File{Name: "base", Data: base}, config.File{Name: "local", Data: local})
		if err != nil {
			return
		}
		text := marshal(t, s)
		again := read(t, text)
		if diff := cmp.Diff(s, again, values); diff != "" {
			t.Errorf("read back from\n%s(-want +got):\n%s", text, diff)
		}
		if _, err := s.Agent.Options(); err != nil {
			t.Errorf("Options: %v, want words that were read before", err)
		}
	})
}
