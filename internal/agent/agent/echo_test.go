package agent_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/stream"
)

// What a program repeats of its prompt, in the prompt's order, are not its words.
func TestEchoes(t *testing.T) {
	const prompt = "Write a.\n\nThen say\n<response>DONE</response>\n"
	for name, test := range map[string]struct{ prompt, prints, own string }{
		"as it stands":       {prompt, prompt, ""},
		"quoted":             {prompt, "> Write a.\n>\n> Then say\n> <response>DONE</response>\n", ">"},
		"begun anew":         {prompt, "Write a.\n" + prompt, ""},
		"then the answer":    {prompt, prompt + "<response>DONE</response>\n", "<response>DONE</response>"},
		"an answer of sorts": {prompt, "Then say\nWrite b.\n", "Then say Write b."},
		"no prompt":          {"", "Write a.\n", "Write a."},
	} {
		t.Run(name, func(t *testing.T) {
			adapter, err := agent.Pick("command", agent.Options{Command: "x"})
			if err != nil {
				t.Fatal(err)
			}
			decoder := adapter.Decoder(agent.Order{Prompt: test.prompt})
			var own []string
			for line := range strings.Lines(test.prints) {
				for _, item := range decoder.Line([]byte(strings.TrimSuffix(line, "\n"))) {
					if text, is := item.(stream.Text); is && text.Text != "" {
						own = append(own, text.Text)
					}
				}
			}
			if got := strings.Join(own, " "); got != test.own {
				t.Errorf("own words %q, want %q", got, test.own)
			}
		})
	}
}
