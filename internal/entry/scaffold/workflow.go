package scaffold

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/proof/survey"
	"github.com/ralph-loop/ralph/templates"
)

// WorkflowFile is where GitHub and ralph serve look for it.
const (
	workflowDir  = ".github/workflows/"
	WorkflowFile = workflowDir + "ralph.yml"
)

// workflows returns what GitHub starts ralph by.
func (f Files) workflows(values workflowValues) []workspace.NewFile {
	var files []workspace.NewFile
	for _, file := range []struct {
		path     string
		template string
		needed   bool
	}{
		// A proof of a fork's pull request may write nothing, so another workflow publishes it.
		{workflowDir + "ralph-proof.yml", "proof.yml", f.Proof},
		{workflowDir + "ralph-proof-publish.yml", "proof-publish.yml", f.Proof},
		// An App's server gets the events that ralph-after.yml is for.
		{WorkflowFile, "ralph.yml", f.GitHub && f.App == ""},
		{workflowDir + "ralph-after.yml", "after.yml", f.GitHub && f.App == ""},
		{WorkflowFile, "app.yml", f.App != ""},
		{".github/ISSUE_TEMPLATE/ralph.yml", "issue.yml", f.GitHub},
	} {
		if file.needed {
			files = append(files, workspace.NewFile{Path: file.path, Data: values.fill(file.template)})
		}
	}
	return files
}

var workflowTemplates = sync.OnceValue(func() *template.Template {
	all := template.New("").Delims("[[", "]]")
	return template.Must(all.ParseFS(templates.Files, "workflows/*.yml", "workflows/parts.txt"))
})

// workflowValues is what the templates of workflows need.
type workflowValues struct {
	Checks   []survey.Command
	Setup    []survey.Command
	Tools    []survey.Tool
	Checkout bool   // a tool reads its version from a file
	Host     bool   // ralph works on the machine itself, as the checks need tools that the image lacks
	Pin      string // of ralph; empty: it builds its main
	App      string
}

// slug is how GitHub names an App in its address.
var slug = pattern.Of(`^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$`)

func (f Files) workflowValues() (workflowValues, error) {
	found := f.survey()
	v := workflowValues{Checks: found.Checks, Setup: found.Setup, Pin: f.Pin, App: strings.TrimSuffix(f.App, "[bot]")}
	if f.App != "" && !slug.MatchString(v.App) {
		return v, fault.Usage(fmt.Sprintf("%q is not the name of an App", v.App),
			"use the name in its address: github.com/apps/NAME", nil)
	}
	v.Host = v.Checks != nil
	if f.Host != nil {
		v.Host = *f.Host
	}
	if v.Host { // the image has no tools, and takes none
		v.Tools = found.Tools
		v.Checkout = slices.ContainsFunc(v.Tools, func(t survey.Tool) bool { return t.IsRead })
	}
	return v, nil
}

func (v workflowValues) fill(name string) []byte {
	var text bytes.Buffer
	if err := workflowTemplates().ExecuteTemplate(&text, name, v); err != nil {
		panic(err) // our own template names a missing field
	}
	return text.Bytes()
}

// print prints what the project's files suggested, with the file.
func (v workflowValues) print(to io.Writer) {
	for _, check := range v.Checks {
		fmt.Fprintf(to, "check from %s: %s\n", check.From, check.Command)
	}
	for _, setup := range v.Setup {
		fmt.Fprintf(to, "setup from %s: %s\n", setup.From, setup.Command)
	}
	for _, tool := range v.Tools {
		fmt.Fprintln(to, "tools from "+tool.From)
	}
}
