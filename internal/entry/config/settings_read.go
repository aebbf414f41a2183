package config

import (
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/jsontree"
)

// File is the content of a file, and its name for messages.
type File struct {
	Name string
	Data []byte
}

const localSettings = ".ralph/settings.local.json"

// ProjectFiles returns a project's shared and local settings. read returns nil for a missing file.
func ProjectFiles(project string, read func(project, name string) ([]byte, error)) ([]File, error) {
	var files []File
	for _, name := range []string{workspace.SettingsFile, localSettings} {
		data, err := read(project, name)
		if err != nil {
			return nil, err
		}
		if data != nil {
			files = append(files, File{Name: name, Data: data})
		}
	}
	return files, nil
}

// ReadSettings reads settings files. Later files override earlier ones: objects are merged key by key, other values are
// replaced, and null counts as a missing key. The error lists all problems, one on a line.
func ReadSettings(files ...File) (Settings, error) {
	d := newDecoder()
	merged := d.mergeFiles(files)
	if err := d.fault(); err != nil {
		return Settings{}, err
	}
	s := d.effective(merged)
	return s, d.fault()
}

func (d *decoder) mergeFiles(files []File) node {
	merged := node{Kind: jsontree.Object}
	for _, f := range files {
		if root, ok := d.parseJSON(f); ok {
			d.settings(jsontree.At{Node: root})
			merged = merge(merged, root)
		}
	}
	return merged
}

// effective decodes merged settings, and reports a required key that no file has.
func (d *decoder) effective(merged node) Settings {
	root := jsontree.At{Node: merged}
	s := d.settings(root)
	s.given = map[string]bool{"maximumIterations": s.Limits.MaxIterations != nil}
	for _, m := range merged.Members {
		s.given[m.Key] = s.given[m.Key] || m.Value.Kind != jsontree.Null
	}
	if s.SCM != nil && s.SCM.Command == "" {
		scm, _ := root.Member("scm")
		command, _ := scm.Member("command")
		d.Report(command, "missing")
	}
	return s
}

func (d *decoder) settings(at jsontree.At) Settings {
	preset := policy.ForPreset(policy.ByResponse)
	s := Settings{
		MaximumIterations:   preset.Limits.Iterations,
		CompletionResponse:  preset.Word,
		OutputTruncateChars: preset.Excerpt.Chars,
		StreamAgentOutput:   true,
		Agent:               Agent{Flags: []string{}},
		Guardrails:          []Guardrail{},
	}
	d.Decode(at, &s)
	if grace, _ := at.Member("stopGrace"); policy.Given(s.StopGrace, 0) > maxStopGrace {
		d.Report(grace, "found %s, want at most %s", grace, maxStopGrace)
	}
	s.MaximumIterations = policy.Given(s.Limits.MaxIterations, s.MaximumIterations)
	return s
}
