package config_test

import (
	"os"
	"slices"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/config"
)

// action.yml offers the inputs that are read, and no others: one that does
// nothing would be a promise nobody keeps.
func TestActionOffersWhatIsRead(t *testing.T) {
	data, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Inputs map[string]struct{ Default string }
	}
	if err := yaml.Unmarshal(data, &action); err != nil {
		t.Fatal(err)
	}
	var offered, read []string
	for name := range action.Inputs {
		offered = append(offered, name)
	}
	_, err = config.ReadInputs(func(name string) string {
		read = append(read, name)
		return action.Inputs[name].Default
	})
	if err != nil {
		t.Fatalf("the defaults of action.yml are refused: %v", err)
	}
	slices.Sort(offered)
	slices.Sort(read)
	if diff := cmp.Diff(offered, slices.Compact(read)); diff != "" {
		t.Errorf("inputs (-offered +read):\n%s", diff)
	}
}
