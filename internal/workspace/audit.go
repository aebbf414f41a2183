package workspace

import (
	"fmt"
	"os"

	"github.com/ralph-loop/ralph/internal/plan"
)

// Audit says what is wrong with the plan as a loop should leave it behind.
func (m Memory) Audit() error {
	root, err := os.OpenRoot(m.Tree)
	if err != nil {
		return fmt.Errorf("open the agent's tree: %w", err)
	}
	defer root.Close() //nolint:errcheck // only a handle
	data, err := regular(root, m.in(planFile))
	if err != nil {
		return fmt.Errorf("read %s: %w", m.in(planFile), err)
	}
	_, err = plan.Audit(m.in(planFile), data)
	return err
}
