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
	"github.com/ralph-loop/ralph/internal/lib/environ"
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

// workflow fills in a template with the project's own text.
func (f Files) workflow(path, name string) workspace.NewFile {
	p := f.proposal
	ref := cmp.Or(f.Pin, "main")
	uses := "ralph-loop/ralph@"
	if f.host() {
		uses = "ralph-loop/ralph/host@"
	}
	checks := cmp.Or(lines("checks", p.Checks), "          checks: |\n            make test\n")
	fill := struct {
		Host, Build, Cache                          bool
		Ref, Uses, App, CI, Tools, Services, Inputs string
	}{
		Host:   f.host(),
		Build:  f.Pin == "",
		Cache:  len(p.Setup) > 0,
		Ref:    ref,
		Uses:   uses + ref,
		App:    f.App,
		CI:     "[CI]",
		Inputs: checks + lines("setup", p.Setup) + lines("check-env", p.Env),
	}
	names, err := json.Marshal(survey.CI(f.source())) // JSON is YAML, too
	if err == nil && len(names) > len("null") {
		fill.CI = string(names)
	}
	for _, step := range p.Steps {
		fill.Tools += copied("      ", step)
	}
	if len(p.Ports) > 0 {
		fill.Services = copied("    ", p.Services)
		fill.Inputs += "          # Ports of the services above.\n" +
			"          services: " + strings.Join(p.Ports, " ") + "\n"
	}
	var text bytes.Buffer
	if err := workflowTemplates().ExecuteTemplate(&text, name, fill); err != nil {
		panic(err) // our own template names a missing field
	}
	return workspace.NewFile{Path: path, Data: text.Bytes()}
}

// propose reads the project's own files. The image has no tools for what they set up.
func (f *Files) propose() {
	f.proposal = survey.Propose(f.source())
	var env []survey.Command
	for _, variable := range f.proposal.Env {
		if err := environ.CheckVariable(variable.Command); err != nil {
			f.proposal.Ignored = append(f.proposal.Ignored, variable.From+": a variable is left out: "+err.Error())
			continue
		}
		env = append(env, variable)
	}
	f.proposal.Env = env
	if !f.host() {
		f.proposal.Steps = nil
		f.proposal.Services = survey.Block{}
		f.proposal.Ports = nil
		f.proposal.Ignored = nil
	}
}

// host reports whether ralph works on the machine itself, as the checks need tools that the image lacks.
func (f Files) host() bool {
	if f.Host != nil {
		return *f.Host
	}
	return f.proposal.Tools()
}

// proposed returns a line for each part of the proposal, with the file that it comes from.
func (f Files) proposed() []string {
	var all []string
	p := f.proposal
	for _, input := range []struct {
		name     string
		commands []survey.Command
	}{
		{"check", p.Checks},
		{"setup", p.Setup},
		{"check-env", p.Env},
	} {
		for _, command := range input.commands {
			all = append(all, fmt.Sprintf("%s from %s: %s", input.name, command.From, command.Command))
		}
	}
	for _, step := range p.Steps {
		all = append(all, "tools from "+step.From)
	}
	if len(p.Ports) > 0 {
		all = append(all, fmt.Sprintf("services from %s: %s", p.Services.From, strings.Join(p.Ports, " ")))
	}
	return all
}

// copied returns a block of YAML with the file that it comes from.
func copied(indent string, block survey.Block) string {
	text := strings.Builder{}
	text.WriteString(indent + "# From " + block.From + ".\n")
	for line := range strings.Lines(block.YAML) {
		text.WriteString(indent + line)
	}
	return text.String()
}

// lines returns an input of the step that works, under the files that its commands come from, or empty.
func lines(input string, commands []survey.Command) string {
	if len(commands) == 0 {
		return ""
	}
	var from []string
	text := strings.Builder{}
	for _, one := range commands {
		if !slices.Contains(from, one.From) {
			from = append(from, one.From)
		}
		text.WriteString("            " + one.Command + "\n")
	}
	return "          # From " + strings.Join(from, ", ") + ".\n          " + input + ": |\n" + text.String()
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
