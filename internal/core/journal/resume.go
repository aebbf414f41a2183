package journal

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/shell"
)

// Resume names a run on a laptop, as the command that continues it has to.
type Resume struct {
	Dir string // the project, from the current folder; empty: that folder
	ID  string // empty: the newest run that is not complete
}

// Command is the command that continues the run, with more words as a person types them. Nothing else spells it.
func (r Resume) Command(words ...string) string {
	command := []string{"ralph resume"}
	if r.Dir != "" {
		command = append(command, "-d", shell.Quote(r.Dir))
	}
	command = append(command, words...)
	if r.ID != "" {
		command = append(command, shell.Quote(r.ID))
	}
	return strings.Join(command, " ")
}
