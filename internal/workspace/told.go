package workspace

import (
	"fmt"
	"os"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// toldFile is a file of the folder. It names the run whose end people have heard of.
const toldFile = "told"

// told is the content of that file. A run that went on since has a longer journal.
func told(run Run) string {
	info, err := os.Stat(run.Journal())
	if err != nil {
		return run.ID
	}
	return fmt.Sprintf("%s %d", run.ID, info.Size())
}

// MarkTold records that people have heard how a run ended.
func (f Folder) MarkTold(run Run) error {
	return untrusted.Folder{Path: f.Path}.WriteFile(toldFile, []byte(told(run)), 0o644)
}

// IsTold reports whether people have heard how a run ended.
func (f Folder) IsTold(run Run) bool {
	said, err := untrusted.Folder{Path: f.Path}.ReadFile(toldFile, 4096)
	return err == nil && string(said) == told(run)
}
