package workspace_test

import (
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/workspace"
)

// holderKey makes this test binary lock a folder, report it, and wait until its input
// ends.
const holderKey = "WORKSPACE_TEST_HOLD"

func TestMain(m *testing.M) {
	path := os.Getenv(holderKey)
	if path == "" {
		os.Exit(m.Run())
	}
	if _, err := (workspace.Folder{Path: path}).Lock(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}
