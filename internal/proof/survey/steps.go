package survey

import (
	"fmt"
	"maps"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

var (
	toolSetup = pattern.Of(`^[\w.-]+/[\w./-]*(?:setup|install|toolchain|mise)[\w./-]*@[\w./-]+$`)
	unneeded  = pattern.Of(`^actions/upload-artifact@|cache(?:/restore|/save)?@`)
	checkout  = pattern.Of(`^actions/checkout@[\w./-]+$`)
	pinned    = pattern.Of(`uses: *(\S+) +(#[ -~]*)`)
)

// step is what the runner does before ralph.
type step struct {
	Uses string         `yaml:"uses,omitempty"`
	With map[string]any `yaml:"with,omitempty"`
	Run  string         `yaml:"run,omitempty"`
	Env  map[string]any `yaml:"env,omitempty"`
}

// steps takes what installs tools on the runner, in its order, and a checkout of the default branch without a token.
// The sandbox reads no cache of these steps, and some need a tool for it that is not there yet.
func (p *Proposal) steps(job workflowJob) {
	var before, tools []step
	for _, jobStep := range job.Steps {
		uses := text(jobStep["uses"])
		with, _ := jobStep["with"].(map[string]any)
		maps.DeleteFunc(with, func(name string, value any) bool {
			return strings.Contains(name, "cache") && fmt.Sprint(value) != "false"
		})
		switch {
		case uses == "":
			tools = append(tools, p.runs(job, jobStep)...)
		case checkout.MatchString(uses) && before == nil:
			before = []step{{Uses: uses, With: map[string]any{
				"persist-credentials": false,
				"ref":                 "${{ github.event.repository.default_branch }}",
			}}}
		case unneeded.MatchString(uses):
		case !toolSetup.MatchString(uses):
			p.leaveOut(job.from, "step", uses, "add it to the workflow if the checks need it")
		case plainStep(jobStep, "uses", "with"):
			tools = append(tools, step{Uses: uses, With: with})
		default:
			p.leaveOut(job.from, "step", uses, "it has an expression or a condition")
		}
	}
	if tools == nil {
		return
	}
	data, err := yaml.Marshal(append(before, tools...))
	if err != nil { // cannot happen: the values were read
		return
	}
	p.Steps = []Block{{commented(string(data), job.text), job.from}}
}

// runs returns the commands of a step that install tools on the runner.
func (p *Proposal) runs(job workflowJob, jobStep map[string]any) []step {
	var taken []step
	own, _ := jobStep["env"].(map[string]any)
	for _, line := range job.lines(jobStep, strings.TrimSpace(text(jobStep["run"]))) {
		env := maps.Clone(job.Env)
		maps.DeleteFunc(env, func(name string, _ any) bool { return !strings.Contains(line, name) })
		maps.Copy(env, own)
		switch {
		case !forRunner(line):
		case expression(env):
			p.leaveOut(job.from, "command", line, "its variables have an expression")
		default:
			taken = append(taken, step{Run: line, Env: env})
		}
	}
	return taken
}

// commented restores the comments behind pinned versions.
func commented(steps string, workflow []byte) string {
	for _, found := range pinned.FindAllStringSubmatch(string(workflow), -1) {
		steps = strings.ReplaceAll(steps, "uses: "+found[1]+"\n", "uses: "+found[1]+" "+found[2]+"\n")
	}
	return steps
}
