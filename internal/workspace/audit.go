package workspace

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/plan"
)

// Audit says what is wrong with the plan as a loop should leave it behind.
func (m Memory) Audit() error {
	root, err := m.open()
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	data, err := root.ReadFile(m.in(planFile), largest)
	if err != nil {
		return fmt.Errorf("read %s: %w", m.in(planFile), err)
	}
	_, err = plan.Audit(m.in(planFile), data)
	return err
}
