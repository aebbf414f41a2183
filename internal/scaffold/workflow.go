package scaffold

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/survey"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/workspace"
	"github.com/ralph-loop/ralph/templates"
)

// WorkflowFile is where GitHub looks for it, and ralph serve by default.
const WorkflowFile = ".github/workflows/ralph.yml"

// slug is how GitHub names an App in its address.
var slug = pattern.Of(`^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$`)

// workflow is what GitHub starts ralph by: for an App or for everybody, in a
// container or on the machine itself. It uses ralph by the pin.
func (f Files) workflow() ([]byte, error) {
	name := "workflows/ralph.yml"
	app := strings.TrimSuffix(f.App, "[bot]")
	if f.App != "" {
		name = "workflows/app.yml"
		if !slug.MatchString(app) {
			return nil, fault.Usage(fmt.Sprintf("no App is called %q", f.App), "give its name as its address has it: github.com/apps/NAME", nil)
		}
	}
	text, err := templates.Files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	// Before the project's own text is in: that may contain the word.
	workflow := f.judged(strings.ReplaceAll(string(text), "APP", app))
	action, pin := "ralph-loop/ralph@", cmp.Or(f.Pin, "main")
	if f.host() {
		steps, err := templates.Files.ReadFile("workflows/host.txt")
		if err != nil {
			return nil, err
		}
		workflow = strings.Replace(workflow, "      - uses: ralph-loop/ralph@v1\n        with:\n", f.tools(string(steps)), 1)
		workflow = strings.ReplaceAll(workflow, action, "ralph-loop/ralph/host@")
		action = "ralph-loop/ralph/host@"
	}
	workflow = strings.ReplaceAll(workflow, action+"v1\n", action+pin+"\n")
	if f.host() && f.Pin == "" {
		workflow = built(workflow, action+pin+"\n")
	}
	return []byte(workflow), nil
}

// built is a workflow whose steps that use ralph on the runner build it.
func built(workflow, uses string) string {
	const with, build = "        with:\n", "          ralph-from: build\n"
	workflow = strings.ReplaceAll(workflow, uses, uses+with+build)
	return strings.ReplaceAll(workflow, build+with, build)
}

// host tells that ralph works on the machine itself: what projects' own files
// suggest as checks or set up starts tools that our image has not.
func (f Files) host() bool {
	if f.Host != nil {
		return *f.Host
	}
	source := f.source()
	return len(survey.Read(source).Checks()) > 0 || survey.ReadExisting(source).Any()
}

// fromCI is what the project's workflows set up. Our image has no tools
// for it, so it counts on the machine itself only.
func (f Files) fromCI() survey.Existing {
	if !f.host() {
		return survey.Existing{}
	}
	return survey.ReadExisting(f.source())
}

// judged is a workflow with what the project's own files suggest: checks in the
// place of the example, setup commands and services.
func (f Files) judged(workflow string) string {
	const example = "          checks: |\n            make test\n"
	files, existing := survey.Read(f.source()), f.fromCI()
	inputs := cmp.Or(lines("checks", files.Checks()), example)
	if setup := lines("setup", existing.Setup); setup != "" {
		inputs += "          # From " + existing.Setup[0].From + ".\n" + setup
	} else if setup := lines("setup", files.Setup()); setup != "" {
		inputs += "          # What makes a fresh checkout ready for them.\n" + setup
	}
	if len(existing.Ports) > 0 {
		inputs += "          # Ports of the services above.\n          services: " + strings.Join(existing.Ports, " ") + "\n"
		workflow = strings.Replace(workflow, "    steps:\n", copied("    ", existing.Services)+"    steps:\n", 1)
	}
	return strings.Replace(workflow, example, inputs, 1)
}

// tools are the steps on the runner, with the project's own in the place of the
// example that sets up node.
func (f Files) tools(steps string) string {
	const ours = "      # On the machine itself"
	_, rest, found := strings.Cut(steps, ours)
	if own := f.fromCI().Steps; found && own.YAML != "" {
		return copied("      ", own) + ours + rest
	}
	return steps
}

// copied is a block of YAML with the file that it comes from.
func copied(indent string, block survey.Block) string {
	text := strings.Builder{}
	text.WriteString(indent + "# From " + block.From + ".\n")
	for line := range strings.Lines(block.YAML) {
		text.WriteString(indent + line)
	}
	return text.String()
}

// lines are an input of the step that works; empty where there is nothing to give.
func lines(input string, commands []survey.Command) string {
	if len(commands) == 0 {
		return ""
	}
	text := strings.Builder{}
	text.WriteString("          " + input + ": |\n")
	for _, one := range commands {
		text.WriteString("            " + one.Command + "\n")
	}
	return text.String()
}

// source are the files of the project; what cannot be read says nothing.
func (f Files) source() survey.Source {
	return survey.Source{
		List: func(folder string) (names []string) {
			entries, _ := untrusted.ReadDir(filepath.Join(f.ProjectDir, folder)) // a folder that cannot be read says nothing
			for _, entry := range entries {
				name := entry.Name()
				if entry.IsDir() {
					name += "/"
				}
				names = append(names, name)
			}
			return names
		},
		Read: func(name string) []byte {
			data, _ := workspace.ReadSettings(f.ProjectDir, name)
			return data
		},
	}
}
