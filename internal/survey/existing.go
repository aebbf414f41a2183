package survey

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"

	"github.com/ralph-loop/ralph/internal/pattern"
)

const (
	workflowDir = ".github/workflows/"
	copilotJob  = "copilot-setup-steps"
	copilotFile = workflowDir + copilotJob + ".yml"
)

var (
	testLine  = pattern.Of(`\b(?:py|unit|vi|nex|c)?test\b|\b(?:jest|rspec|phpunit)\b`)
	toolSetup = pattern.Of(`^[\w.-]+/setup-[\w.-]+@[\w./-]+$`)
	checkout  = pattern.Of(`^actions/checkout@[\w./-]+$`)
	pinned    = pattern.Of(`uses: *(\S+) +(#[^\r\n]*)`)
	fixedPort = pattern.Of(`^([0-9]+):[0-9]+(?:/tcp)?$`)
)

// Existing is what the GitHub workflows of a project already set up.
type Existing struct {
	Setup    []Command // run steps of copilot-setup-steps.yml
	Steps    Block     // steps that install tools, as YAML
	Services Block     // services of the job that runs the tests, as YAML
	Ports    []string  // ports of these services on the runner
	Ignored  []string  // what was left out, and why
}

// Block is YAML from a workflow.
type Block struct{ YAML, From string }

// Any tells whether the workflows set up anything.
func (e Existing) Any() bool { return len(e.Setup)+len(e.Ports) > 0 || e.Steps.YAML != "" }

type workflowJob struct {
	Defaults any
	Services map[string]map[string]any
	Steps    []map[string]any
	from     string
	text     []byte
}

// ReadExisting reads copilot-setup-steps.yml, and the first job of the other
// workflows that runs tests. Steps of the former go before those of the latter.
func ReadExisting(s Source) Existing {
	var e Existing
	if job, is := e.jobs(s, copilotFile)[copilotJob]; is {
		e.commands(job)
		e.steps(job)
	}
	for _, name := range slices.Sorted(slices.Values(s.List(strings.TrimSuffix(workflowDir, "/")))) {
		from, ext := workflowDir+name, path.Ext(name)
		if ext != ".yml" && ext != ".yaml" || from == copilotFile || name == "ralph.yml" {
			continue
		}
		jobs := e.jobs(s, from)
		for _, name := range slices.Sorted(maps.Keys(jobs)) {
			if !slices.ContainsFunc(jobs[name].Steps, func(step map[string]any) bool { return testLine.MatchString(text(step["run"])) }) {
				continue
			}
			if e.Steps.YAML == "" {
				e.steps(jobs[name])
			}
			e.services(jobs[name])
			return e
		}
	}
	return e
}

func text(value any) string {
	s, _ := value.(string)
	return s
}

// jobs are those of a workflow file; none where it cannot be read.
func (e *Existing) jobs(s Source, from string) map[string]workflowJob {
	data := s.Read(from)
	if data == nil {
		return nil
	}
	var file struct {
		Defaults any
		Jobs     map[string]workflowJob
	}
	if yaml.Unmarshal(data, &file) != nil || len(file.Jobs) == 0 {
		e.Ignored = append(e.Ignored, from+" is ignored: not a readable workflow")
		return nil
	}
	for name, job := range file.Jobs {
		job.from, job.text = from, data
		if job.Defaults == nil {
			job.Defaults = file.Defaults
		}
		file.Jobs[name] = job
	}
	return file.Jobs
}

// commands takes run steps of one line that need nothing of their job.
func (e *Existing) commands(job workflowJob) {
	for _, step := range job.Steps {
		run := strings.TrimSpace(text(step["run"]))
		switch {
		case run == "":
		case job.Defaults == nil && plainStep(step) && !strings.ContainsFunc(run, func(r rune) bool { return !unicode.IsPrint(r) }):
			e.Setup = append(e.Setup, Command{run, job.from})
		default:
			line, _, _ := strings.Cut(run, "\n")
			e.Ignored = append(e.Ignored, fmt.Sprintf("%s: the run step %q is left out: only one line without expressions and options can be a setup command", job.from, line))
		}
	}
}

// plainStep tells that a step has no expression, condition or other option.
func plainStep(step map[string]any) bool {
	for key := range step {
		if !slices.Contains([]string{"name", "id", "uses", "with", "run"}, key) {
			return false
		}
	}
	return !expression(step["run"]) && !expression(step["with"])
}

func expression(value any) bool { return strings.Contains(fmt.Sprint(value), "${{") }

// steps takes the steps that install tools, and the checkout that their version
// files and caches need: of the default branch, without a token left behind.
func (e *Existing) steps(job workflowJob) {
	type step struct {
		Uses string         `yaml:"uses"`
		With map[string]any `yaml:"with,omitempty"`
	}
	var before, tools []step
	for _, one := range job.Steps {
		uses := text(one["uses"])
		with, _ := one["with"].(map[string]any)
		switch {
		case checkout.MatchString(uses) && before == nil:
			before = []step{{uses, map[string]any{"persist-credentials": false, "ref": "${{ github.event.repository.default_branch }}"}}}
		case !toolSetup.MatchString(uses):
		case plainStep(one):
			tools = append(tools, step{uses, with})
		default:
			e.Ignored = append(e.Ignored, fmt.Sprintf("%s: the step %s is left out: it has an expression or a condition", job.from, uses))
		}
	}
	if tools == nil {
		return
	}
	data, err := yaml.Marshal(append(before, tools...))
	if err != nil {
		return // values that were read can be written
	}
	e.Steps = Block{commented(string(data), job.text), job.from}
}

// commented puts the versions behind the pins again, which are comments.
func commented(steps string, workflow []byte) string {
	for _, found := range pinned.FindAllStringSubmatch(string(workflow), -1) {
		steps = strings.ReplaceAll(steps, "uses: "+found[1]+"\n", "uses: "+found[1]+" "+found[2]+"\n")
	}
	return steps
}

// services takes those whose ports on the runner are fixed.
func (e *Existing) services(job workflowJob) {
	taken := map[string]map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(job.Services)) {
		service := job.Services[name]
		ports, fixed := portsOf(service["ports"])
		if !fixed || expression(service) {
			e.Ignored = append(e.Ignored, fmt.Sprintf("%s: the service %s is left out: it has an expression, or no fixed port as in 5432:5432", job.from, name))
			continue
		}
		taken[name], e.Ports = service, append(e.Ports, ports...)
	}
	if len(taken) == 0 {
		return
	}
	data, err := yaml.MarshalWithOptions(map[string]any{"services": taken}, yaml.IndentSequence(true))
	if err != nil {
		e.Ports = nil
		return // values that were read can be written
	}
	e.Services = Block{string(data), job.from}
}

func portsOf(value any) (ports []string, fixed bool) {
	list, _ := value.([]any)
	for _, one := range list {
		port := fixedPort.FindStringSubmatch(fmt.Sprint(one))
		if port == nil {
			return nil, false
		}
		ports = append(ports, port[1])
	}
	return ports, len(ports) > 0
}
