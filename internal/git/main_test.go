package git_test

import (
	"os"
	"testing"
)

// TestMain lays what the tests work with in memory, where make says that there
// is room for it: thousands of small files are made here and removed again.
func TestMain(m *testing.M) {
	if dir := os.Getenv("RALPH_TEST_MEMORY"); dir != "" {
		if err := os.Setenv("TMPDIR", dir); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
