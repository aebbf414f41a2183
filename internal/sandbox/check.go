package sandbox

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
)

// Check has a program inside read a file, connect to servers and signal ralph, none of which a sandbox lets it do. What
// gets through although the level promises to block it is the error; what it leaves open is returned.
func (w Config) Check(ctx context.Context, exec Exec) (open []string, err error) {
	breaches, err := w.tryFromInside(ctx, exec)
	if err != nil {
		return nil, fmt.Errorf("test the sandbox from inside: %w", err)
	}
	var broken []string
	for _, one := range breaches {
		if one.promised {
			broken = append(broken, one.name)
		} else {
			open = append(open, one.name)
		}
	}
	if len(broken) > 0 {
		return open, fault.Usage(
			fmt.Sprintf("the sandbox level %s does not hold: %s", w.Level, strings.Join(broken, ", ")),
			"run ralph doctor --sandbox to see what this machine offers; sandbox: none runs without a sandbox", nil)
	}
	return open, nil
}

// breach is something that a program inside could do and should not.
type breach struct {
	name     string
	promised bool // the level blocks it
}
