package agent

import (
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/fault"
)

// DockerImage is what a Docker sandbox is made from; plugin/sandbox builds it.
const DockerImage = "dclaude:latest"

// Docker has the agent run in a Docker sandbox: a machine of its own, which has
// the folder of the work and that of the logins where they are here.
type Docker struct {
	State string        // where the logins of all sandboxes lie
	Pause time.Duration // until the files are the same on both sides
}

// within has Claude Code run in a Docker sandbox. That takes the prompt as an
// argument, and has neither our keys nor our hooks: it has a login of its own,
// and its entrypoint skips the permissions.
func (d Docker) within(a Adapter, flags []string) Adapter {
	return Adapter{
		Name:    a.Name,
		Program: "docker",
		Install: "install Docker Desktop 4.58 or later",
		Notes:   a.Notes,
		Vars:    []string{"DOCKER_CONFIG", "DOCKER_CONTEXT", "DOCKER_HOST"},
		Argv: func(order Order) []string {
			argv := []string{"docker", "sandbox", "run", "-t", DockerImage, "claude", order.Dir, d.State, "--", "-p", undashed(order.Prompt)}
			return slices.Concat(argv, claudeFormat, claudeSources, claudeModel(order), flags)
		},
		Env:       func(Order) []string { return nil },
		Stdin:     func(Order) string { return "" },
		Decoder:   a.Decoder,
		Speaks:    a.Speaks,
		Reports:   a.Reports,
		MaxPrompt: maxArgument - 2, // a zero ends it, and a line may begin it
		Settle:    d.Pause,
	}
}

// undashed is a prompt that is not taken for a flag.
func undashed(prompt string) string {
	if strings.HasPrefix(prompt, "-") {
		return "\n" + prompt
	}
	return prompt
}

// undockered refuses every other agent a Docker sandbox.
func undockered(name string) error {
	return fault.Usage("a Docker sandbox is for the agent claude, and this one is "+name,
		"let ralph's own wall confine it: --sandbox", nil)
}
