package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// mostKept is more than any file beside a journal holds that is read again.
const mostKept = 64 << 20

// Read is a file of the folder that was kept earlier, if it still is what it
// was: agents can write there.
func (f Folder) Read(name, digest string) (string, error) {
	root, err := untrusted.OpenRoot(f.Path)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	defer root.Close() //nolint:errcheck // only a handle
	data, err := root.ReadFile(name, mostKept)
	if errors.Is(err, untrusted.ErrNotPlain) {
		err = fmt.Errorf("%w: %w", err, os.ErrNotExist)
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != digest {
		return "", fmt.Errorf("read %s: it is not what it was", name)
	}
	return string(data), nil
}
