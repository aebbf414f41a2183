package scaffold

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/survey"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/workspace"
	"github.com/ralph-loop/ralph/templates"
)

// WorkflowFile is where GitHub and ralph serve look for it. AfterFile looks after open pull requests.
const (
	workflowDir  = ".github/workflows/"
	WorkflowFile = workflowDir + "ralph.yml"
	AfterFile    = workflowDir + "ralph-after.yml"
)

// slug is how GitHub names an App in its address.
var slug = pattern.Of(`^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$`)

// workflows returns what GitHub starts ralph by. An App's server hears what AfterFile is for.
func (f Files) workflows() ([]workspace.NewFile, error) {
	app := strings.TrimSuffix(f.App, "[bot]")
	if f.App != "" && !slug.MatchString(app) {
		return nil, fault.Usage(fmt.Sprintf("%q is not the name of an App", f.App), "use the name in its address: github.com/apps/NAME", nil)
	}
	if f.App != "" {
		return []workspace.NewFile{{Path: WorkflowFile, Data: f.workflow("workflows/app.yml", "APP", app)}}, nil
	}
	listens := []string{"[CI]", "[CI]"}
	if ci := survey.CI(f.source()); len(ci) > 0 {
		names, err := json.Marshal(ci) // which is YAML, too
		if err != nil {
			return nil, fmt.Errorf("name the project's workflows: %w", err)
		}
		listens[1] = string(names)
	}
	return []workspace.NewFile{{Path: WorkflowFile, Data: f.workflow("workflows/ralph.yml")}, {Path: AfterFile, Data: f.workflow("workflows/after.yml", listens...)}}, nil
}

// workflow fills in a template, first its words and then the project's own text.
func (f Files) workflow(name string, words ...string) []byte {
	const action, host, with = "      - uses: ralph-loop/ralph@", "      - uses: ralph-loop/ralph/host@", "        with:\n"
	workflow := f.judged(strings.NewReplacer(words...).Replace(templates.Text(name)))
	pin := cmp.Or(f.Pin, "main") + "\n"
	step := action + pin
	if f.host() {
		tools, inputs, _ := strings.Cut(f.tools(templates.Text("workflows/host.txt")), host)
		if strings.Contains(workflow, "          mode: prove\n") { // no agent works there
			inputs = "v1\n" + with
		}
		workflow = strings.Replace(strings.Replace(workflow, imageNote, "", 1), action+"v1\n"+with, tools+host+inputs, 1)
		workflow = strings.ReplaceAll(workflow, action, host)
		step = host + pin
	}
	workflow = strings.NewReplacer(action+"v1\n", action+pin, host+"v1\n", host+pin).Replace(workflow)
	if f.Pin == "" {
		workflow = built(workflow, host+pin)
	}
	return []byte(f.cached(workflow, step))
}

// imageNote stands above the step that runs ralph's image.
const imageNote = "      # The image has git, sh and the agents. If your checks need more, run ralph on\n      # the runner itself: ralph init --github --host\n"

// cached returns a workflow that keeps what the setup commands fetch for the next job.
func (f Files) cached(workflow, step string) string {
	const record = "      # The record of the run"
	before, after, found := strings.Cut(workflow, step+"        with:\n")
	work, rest, ends := strings.Cut(after, record)
	if len(f.proposal.Setup) == 0 || !found || !ends {
		return workflow
	}
	step += "        id: ralph\n        with:\n          cache: .ralph-cache\n"
	return before + templates.Text("workflows/cache-restore.txt") + step + work + templates.Text("workflows/cache-save.txt") + record + rest
}

// built returns a workflow whose steps that use ralph on the runner build it.
func built(workflow, uses string) string {
	const with, build = "        with:\n", "          ralph-from: build\n"
	workflow = strings.ReplaceAll(workflow, uses, uses+with+build)
	return strings.ReplaceAll(workflow, build+with, build)
}

// propose reads the project's own files. The image has no tools for what they set up.
func (f *Files) propose() {
	f.proposal = survey.Propose(f.source())
	f.proposal.Env = slices.DeleteFunc(f.proposal.Env, func(c survey.Command) bool {
		err := environ.CheckVariable(c.Command)
		if err != nil {
			f.proposal.Ignored = append(f.proposal.Ignored, c.From+": a variable is left out: "+err.Error())
		}
		return err != nil
	})
	if !f.host() {
		f.proposal.Steps, f.proposal.Services, f.proposal.Ports, f.proposal.Ignored = nil, survey.Block{}, nil, nil
	}
}

// host reports whether ralph works on the machine itself, as the checks need tools that the image lacks.
func (f Files) host() bool {
	if f.Host != nil {
		return *f.Host
	}
	return f.proposal.Tools()
}

// judged returns a workflow with the project's own checks in place of the example, setup and services.
func (f Files) judged(workflow string) string {
	const example = "          checks: |\n            make test\n"
	if !strings.Contains(workflow, example) {
		return workflow
	}
	inputs := cmp.Or(lines("checks", f.proposal.Checks), example) + lines("setup", f.proposal.Setup) + lines("check-env", f.proposal.Env)
	if len(f.proposal.Ports) > 0 {
		inputs += "          # Ports of the services above.\n          services: " + strings.Join(f.proposal.Ports, " ") + "\n"
		workflow = strings.Replace(workflow, "    steps:\n", copied("    ", f.proposal.Services)+"    steps:\n", 1)
	}
	return strings.Replace(workflow, example, inputs, 1)
}

func (f Files) proposed() (all []string) {
	for _, taken := range []struct {
		name     string
		commands []survey.Command
	}{{"check", f.proposal.Checks}, {"setup", f.proposal.Setup}, {"check-env", f.proposal.Env}} {
		for _, one := range taken.commands {
			all = append(all, fmt.Sprintf("%s from %s: %s", taken.name, one.From, one.Command))
		}
	}
	for _, step := range f.proposal.Steps {
		all = append(all, "tools from "+step.From)
	}
	if len(f.proposal.Ports) > 0 {
		all = append(all, fmt.Sprintf("services from %s: %s", f.proposal.Services.From, strings.Join(f.proposal.Ports, " ")))
	}
	return all
}

// tools returns the steps on the runner, the project's own in place of the example's node.
func (f Files) tools(steps string) string {
	const ours = "      # ralph runs on the runner itself"
	_, rest, found := strings.Cut(steps, ours)
	if !found || f.proposal.Steps == nil {
		return steps
	}
	own := strings.Builder{}
	for _, step := range f.proposal.Steps {
		own.WriteString(copied("      ", step))
	}
	return own.String() + ours + rest
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

// source returns the files of the project; what cannot be read says nothing.
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
