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
	workflow := strings.ReplaceAll(f.judged(string(text)), "APP", app)
	action, pin := "ralph-loop/ralph@", cmp.Or(f.Pin, "main")
	if f.host() {
		steps, err := templates.Files.ReadFile("workflows/host.txt")
		if err != nil {
			return nil, err
		}
		workflow = strings.Replace(workflow, "      - uses: ralph-loop/ralph@v1\n        with:\n", string(steps), 1)
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
// suggest as checks starts tools that our image has not.
func (f Files) host() bool {
	if f.Host != nil {
		return *f.Host
	}
	return len(surveyed(f.ProjectDir).Checks()) > 0
}

// judged is a workflow with what the project's own files suggest in the place of
// the check that stands for it. Whoever names checks has to name setup, too.
func (f Files) judged(workflow string) string {
	files := surveyed(f.ProjectDir)
	checks := lines("checks", files.Checks())
	if checks == "" {
		return workflow
	}
	if setup := lines("setup", files.Setup()); setup != "" {
		checks += "          # What makes a fresh checkout ready for them.\n" + setup
	}
	return strings.Replace(workflow, "          checks: |\n            make test\n", checks, 1)
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

// surveyed are the files of a project that say how it is checked; what cannot be
// read says nothing.
func surveyed(project string) survey.Files {
	return survey.Read(survey.Source{
		List: func(folder string) (names []string) {
			entries, _ := untrusted.ReadDir(filepath.Join(project, folder)) // a folder that cannot be read says nothing
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
			data, _ := workspace.ReadSettings(project, name)
			return data
		},
	})
}
