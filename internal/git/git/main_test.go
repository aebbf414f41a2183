package git_test

import (
	"os"
	"testing"
)

// TestMain uses a folder in memory if make names one: the tests write and remove
// thousands of small files.
func TestMain(m *testing.M) {
	if dir := os.Getenv("RALPH_TEST_MEMORY"); dir != "" {
		if err := os.Setenv("TMPDIR", dir); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	dir, _ := origin()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}
