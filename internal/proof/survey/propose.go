package survey

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/yamlfile"
)

const (
	workflowDir = ".github/workflows/"
	copilotJob  = "copilot-setup-steps"
	copilotFile = workflowDir + copilotJob + ".yml"
)

var (
	testLine  = pattern.Of(`\b(?:py|unit|vi|nex|c)?test\b|\b(?:jest|rspec|phpunit)\b`)
	onPush    = pattern.Of(`\b(?:push|pull_request)\b`)
	fixedPort = pattern.Of(`^([0-9]+):[0-9]+(?:/tcp)?$`)
)

// Proposal is what a project's files suggest for its checks.
type Proposal struct {
	Checks   []Command
	Setup    []Command
	Env      []Command // variables of the job that runs the tests, as NAME=value
	Steps    []Block   // steps that install tools on the runner, as YAML
	Services Block     // services of the job that runs the tests, as YAML
	Ports    []string  // ports of these services on the runner
	Ignored  []string  // what was left out, and why
}

// Block is YAML for a workflow, and the file from which it comes.
type Block struct{ YAML, From string }

// Tools reports whether the project needs more than git and a shell.
func (p Proposal) Tools() bool { return len(p.Checks)+len(p.Setup)+len(p.Ports)+len(p.Steps) > 0 }

type workflowJob struct {
	Env      map[string]any
	Defaults struct{ Run map[string]any }
	Services map[string]map[string]any
	Steps    []map[string]any
	from     string
	text     []byte
	tests    bool // it runs the tests, so its variables are taken, too
}

// Propose reads a project's files. What the workflow job that runs the tests does before its last check is what the
// checks need, but copilot-setup-steps.yml comes first for setup. What is still missing comes from the files of
// package managers and version managers.
func Propose(s Source) Proposal {
	var p Proposal
	if job, ok := p.jobs(s, copilotFile)[copilotJob]; ok {
		p.Setup = p.commands(job)
		p.steps(job)
	}
	if job, ok := p.testJob(s); ok {
		checks, setup := p.split(p.commands(job))
		p.Checks = checks
		if p.Setup == nil {
			p.Setup = setup
		}
		if p.Steps == nil {
			p.steps(job)
		}
		p.services(job)
		p.env(job)
	}
	files := Read(s)
	if p.Checks == nil {
		p.Checks = files.Checks()
	}
	if !slices.ContainsFunc(p.Setup, func(c Command) bool { return installLine.MatchString(c.Command) }) {
		p.Setup = append(files.Setup(), p.Setup...)
	}
	p.versions(s, append([]string{""}, files.below()...))
	return p
}

// testJob returns the first job that runs tests, up to its last check.
func (p *Proposal) testJob(s Source) (workflowJob, bool) {
	for _, from := range workflowFiles(s) {
		jobs := p.jobs(s, from)
		for _, name := range slices.Sorted(maps.Keys(jobs)) {
			job := jobs[name]
			last := 0
			for i, step := range job.Steps {
				run := text(step["run"])
				tests := testLine.MatchString(run)
				if tests {
					job.tests = true
				}
				if tests || checkLine.MatchString(run) {
					last = i + 1
				}
			}
			if job.tests {
				job.Steps = job.Steps[:last]
				return job, true
			}
		}
	}
	return workflowJob{}, false
}

// workflowFiles returns the workflows that may be the project's CI.
func workflowFiles(s Source) []string {
	var all []string
	for _, name := range slices.Sorted(slices.Values(s.List(strings.TrimSuffix(workflowDir, "/")))) {
		ext := path.Ext(name)
		if ext != ".yml" && ext != ".yaml" {
			continue
		}
		from := workflowDir + name
		if from == copilotFile || strings.HasPrefix(name, "ralph") || !printable(name) {
			continue
		}
		all = append(all, from)
	}
	return all
}

// CI returns the names, or paths, of the workflows that GitHub starts for pushes or pull requests.
func CI(s Source) []string {
	var names []string
	for _, from := range workflowFiles(s) {
		var file struct {
			Name string
			On   any
		}
		if yamlfile.Decode(s.Read(from), &file) != nil || !onPush.MatchString(fmt.Sprint(file.On)) {
			continue
		}
		name := cmp.Or(file.Name, from)
		if printable(name) && !strings.Contains(name, "${{") {
			names = append(names, name)
		}
	}
	return names
}

func printable(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

func text(value any) string {
	s, _ := value.(string)
	return s
}

// jobs returns the jobs of a workflow file. An unreadable file has none.
func (p *Proposal) jobs(s Source, from string) map[string]workflowJob {
	data := s.Read(from)
	if data == nil {
		return nil
	}
	var file struct {
		Defaults struct{ Run map[string]any }
		Env      map[string]any
		Jobs     map[string]workflowJob
	}
	if yamlfile.Decode(data, &file) != nil || len(file.Jobs) == 0 {
		p.Ignored = append(p.Ignored, from+" is ignored: not a readable workflow")
		return nil
	}
	for name, job := range file.Jobs {
		job.from = from
		job.text = data
		if job.Defaults.Run == nil {
			job.Defaults = file.Defaults
		}
		env := maps.Clone(file.Env)
		if env == nil {
			env = map[string]any{}
		}
		maps.Copy(env, job.Env)
		job.Env = env
		file.Jobs[name] = job
	}
	return file.Jobs
}

// plainStep reports whether a step has no expression, and no options except the known ones.
func plainStep(step map[string]any, known ...string) bool {
	for key := range step {
		if !slices.Contains(append(known, "name", "id"), key) {
			return false
		}
	}
	return !expression(step)
}

// expression reports whether a value has an expression, or characters that YAML may read as a new line.
func expression(value any) bool {
	text := fmt.Sprint(value)
	if strings.Contains(text, "${{") {
		return true
	}
	return strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) })
}

func (p *Proposal) leaveOut(from, what, name, why string) {
	p.Ignored = append(p.Ignored, fmt.Sprintf("%s: the %s %q is left out: %s", from, what, name, why))
}

// services takes the services with fixed ports on the runner.
func (p *Proposal) services(job workflowJob) {
	taken := map[string]map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(job.Services)) {
		service := job.Services[name]
		ports, fixed := portsOf(service["ports"])
		if !fixed || expression(service) {
			p.leaveOut(job.from, "service", name, "it has an expression, or no fixed port as in 5432:5432")
			continue
		}
		taken[name] = service
		p.Ports = append(p.Ports, ports...)
	}
	if len(taken) == 0 {
		return
	}
	data, err := yaml.MarshalWithOptions(map[string]any{"services": taken}, yaml.IndentSequence(true))
	if err != nil { // cannot happen: the values were read
		p.Ports = nil
		return
	}
	p.Services = Block{string(data), job.from}
}

func portsOf(value any) (ports []string, fixed bool) {
	list, _ := value.([]any)
	for _, mapping := range list {
		port := fixedPort.FindStringSubmatch(fmt.Sprint(mapping))
		if port == nil {
			return nil, false
		}
		ports = append(ports, port[1])
	}
	return ports, len(ports) > 0
}
