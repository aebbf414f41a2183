package scaffold

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
	"github.com/ralph-loop/ralph/internal/proof/survey"
	"github.com/ralph-loop/ralph/templates"
)

// WorkflowFile is where GitHub and ralph serve look for it. afterFile looks after open pull requests.
const (
	workflowDir  = ".github/workflows/"
	WorkflowFile = workflowDir + "ralph.yml"
	afterFile    = workflowDir + "ralph-after.yml"
)

// slug is how GitHub names an App in its address.
var slug = pattern.Of(`^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$`)

// workflows returns what GitHub starts ralph by. An App's server gets the events that afterFile is for.
func (f Files) workflows() ([]workspace.NewFile, error) {
	if f.App == "" {
		return []workspace.NewFile{f.workflow(WorkflowFile, "ralph.yml"), f.workflow(afterFile, "after.yml")}, nil
	}
	f.App = strings.TrimSuffix(f.App, "[bot]")
	if !slug.MatchString(f.App) {
		return nil, fault.Usage(fmt.Sprintf("%q is not the name of an App", f.App),
			"use the name in its address: github.com/apps/NAME", nil)
	}
	return []workspace.NewFile{f.workflow(WorkflowFile, "app.yml")}, nil
}

var workflowTemplates = sync.OnceValue(func() *template.Template {
	all := template.New("").Delims("[[", "]]")
	return template.Must(all.ParseFS(templates.Files, "workflows/*.yml", "workflows/parts.txt"))
})

// proposal is what the project's files suggest for its workflows.
type proposal struct {
	checks []survey.Command
	setup  []survey.Command
	tools  []survey.Tool
}

// propose reads the project's own files.
func (f *Files) propose() {
	files := survey.Read(f.source())
	f.proposal = proposal{checks: files.Checks(), setup: files.Setup()}
	if f.host() { // the image has no tools, and takes none
		f.proposal.tools = files.Tools()
	}
}

// host reports whether ralph works on the machine itself, as the checks need tools that the image lacks.
func (f Files) host() bool {
	if f.Host != nil {
		return *f.Host
	}
	return f.proposal.checks != nil
}

// workflow fills in a template with the project's own commands and tools.
func (f Files) workflow(path, name string) workspace.NewFile {
	p := f.proposal
	ref := cmp.Or(f.Pin, "main")
	uses := "ralph-loop/ralph@"
	if f.host() {
		uses = "ralph-loop/ralph/host@"
	}
	checks := p.checks
	if checks == nil {
		checks = []survey.Command{{Command: "make test"}}
	}
	fill := struct {
		Host, Build, Cache, Checkout bool
		Ref, Uses, App, CI, Inputs   string
		Tools                        []survey.Tool
	}{
		Host:     f.host(),
		Build:    f.Pin == "",
		Cache:    len(p.setup) > 0,
		Checkout: slices.ContainsFunc(p.tools, func(t survey.Tool) bool { return t.IsRead }),
		Ref:      ref,
		Uses:     uses + ref,
		App:      f.App,
		CI:       "[CI]",
		Inputs:   lines("checks", checks) + lines("setup", p.setup),
		Tools:    p.tools,
	}
	names, err := json.Marshal(survey.CI(f.source())) // JSON is YAML, too
	if err == nil && len(names) > len("null") {
		fill.CI = string(names)
	}
	var text bytes.Buffer
	if err := workflowTemplates().ExecuteTemplate(&text, name, fill); err != nil {
		panic(err) // our own template names a missing field
	}
	return workspace.NewFile{Path: path, Data: text.Bytes()}
}

// proposed returns a line for each part of the proposal, with the file that it comes from.
func (f Files) proposed() []string {
	var all []string
	for _, check := range f.proposal.checks {
		all = append(all, fmt.Sprintf("check from %s: %s", check.From, check.Command))
	}
	for _, setup := range f.proposal.setup {
		all = append(all, fmt.Sprintf("setup from %s: %s", setup.From, setup.Command))
	}
	for _, tool := range f.proposal.tools {
		all = append(all, "tools from "+tool.From)
	}
	return all
}

// lines returns an input of the step that works, under the files that its commands come from, or empty.
func lines(input string, commands []survey.Command) string {
	if len(commands) == 0 {
		return ""
	}
	var from []string
	text := strings.Builder{}
	for _, one := range commands {
		if one.From != "" && !slices.Contains(from, one.From) {
			from = append(from, one.From)
		}
		text.WriteString("            " + one.Command + "\n")
	}
	comment := ""
	if from != nil {
		comment = "          # From " + strings.Join(from, ", ") + ".\n"
	}
	return comment + "          " + input + ": |\n" + text.String()
}

// source returns the files of the project without those that git ignores. An unreadable file counts as missing.
func (f Files) source() survey.Source {
	ignored := map[string]bool{}
	for _, name := range f.Ignored {
		ignored[name] = true
	}
	return survey.Source{
		List: func(folder string) (names []string) {
			entries, _ := untrusted.ReadDir(filepath.Join(f.ProjectDir, folder)) // an unreadable folder counts as empty
			for _, entry := range entries {
				name := entry.Name()
				if entry.IsDir() {
					name += "/"
				}
				if !ignored[strings.TrimPrefix(folder+"/"+name, "/")] {
					names = append(names, name)
				}
			}
			return names
		},
		Read: func(name string) []byte {
			if ignored[name] {
				return nil
			}
			data, _ := workspace.ReadSettings(f.ProjectDir, name)
			return data
		},
	}
}
