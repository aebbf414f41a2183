package agent

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/shell"
)

// Words splits a line as a shell splits words, quotes and escapes included.
// Nothing is expanded: a variable or a pipe in it is refused rather than handed
// on as text that means something else than what its writer saw a shell do.
func Words(line string) ([]string, error) {
	words, err := shell.Words(line)
	if err != nil {
		return nil, fault.Usage(
			fmt.Sprintf("no plain command: %q", line),
			`put what is meant literally in single quotes, or have a shell read it: sh -c '…'`, err)
	}
	return words, nil
}
