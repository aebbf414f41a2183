package agent_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/agent"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// TestMain lets this binary be the agent too.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "child" {
		os.Exit(children[os.Args[2]]())
	}
	os.Exit(m.Run())
}

// children are programs that a user could name as the agent command.
var children = map[string]func() int{
	"talker": talker,
	"env": func() int {
		fmt.Println(strings.Join(os.Environ(), "\n"))
		return 0
	},
}

var order = agent.Order{Iteration: 3, Max: 10, Story: "US-001", Prompt: "do it\n"}
