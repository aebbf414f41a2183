package contract

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// file is where npm puts the description, from the root of the module.
const file = "tools/contract/node_modules/@octokit/openapi/generated/api.github.com.json"

var load = sync.OnceValues(func() (*Description, error) {
	path, err := find()
	if err != nil {
		return nil, err
	}
	return Load(path)
})

// Installed returns the description that npm put into tools/contract, loaded once; an
// error that is fs.ErrNotExist says that it is not there.
func Installed() (*Description, error) { return load() }

// Around makes the middleware that fails a test for each violation. Where the
// description is not installed it is nil, which leaves the traffic alone, or
// ends the test if it is required, as `make contract` does by CONTRACT=1.
func Around(tb testing.TB, required bool) func(http.Handler) http.Handler {
	tb.Helper()
	description, err := Installed()
	if errors.Is(err, fs.ErrNotExist) && !required {
		return nil
	}
	if err != nil {
		tb.Fatalf("the contract with GitHub: %v", err)
	}
	return func(next http.Handler) http.Handler {
		return description.Validate(next, func(violation error) { tb.Errorf("contract: %v", violation) })
	}
}

// find looks for the description from the root of the module.
func find() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the API description: %w", err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("find the module's root: %w", fs.ErrNotExist)
		}
	}
	path := filepath.Join(dir, filepath.FromSlash(file))
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("find the API description (npm ci --prefix tools/contract): %w", err)
	}
	return path, nil
}
