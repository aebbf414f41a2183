// Package golden compares what a test made with a file of expected output. For tests only.
package golden

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Compare compares got with a file, or writes the file.
func Compare(t *testing.T, update bool, path, got string) {
	t.Helper()
	if update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
