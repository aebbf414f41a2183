package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// archiveDir is where finished loops lie.
const archiveDir = "ralph-archive"

// Loop is the memory of a loop, as people and agents left it.
type Loop struct {
	memory   Memory
	Plan     plan.Plan
	PRD      []byte
	Progress []byte // nil where there is none
}

// ReadLoop reads the loop of a project, or says that there is nothing in it. A PRD
// that no run would take can still be put away, if only it is JSON.
func ReadLoop(from Memory) (Loop, error) {
	l := Loop{memory: from}
	root, err := openProject(from.Tree)
	if err != nil {
		return l, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	prd := from.in(planFile)
	l.PRD, err = root.ReadFile(prd, largest)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l, fault.Usage("nothing to archive: there is no "+prd, "name the project with -d", nil)
	case err != nil:
		return l, fault.Usage("cannot read "+prd, "make it a plain file that you may read", err)
	}
	if err := json.Unmarshal(l.PRD, &l.Plan); err != nil {
		return l, fault.Usage("the PRD cannot be read", "mend "+prd, err)
	}
	if !l.begun() {
		return l, fault.Usage("nothing to archive: "+prd+" tells of no story yet", "fill it in, and work on it: ralph run", nil)
	}
	l.Progress, err = root.ReadFile(from.in(progressFile), largest)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return l, fault.Usage("cannot read the progress log", "make it a plain file that you may read", err)
	}
	return l, nil
}

// begun tells a PRD that somebody filled in from the one that init lays out.
func (l Loop) begun() bool {
	return slices.ContainsFunc(l.Plan.UserStories, func(s plan.Story) bool {
		return strings.TrimSpace(s.Title+s.Description) != "" || len(s.AcceptanceCriteria) > 0 || s.Passes
	})
}

// Started is the date that the progress log begins with, if it has one.
func (l Loop) Started() string {
	for line := range strings.Lines(string(l.Progress)) {
		if date, found := strings.CutPrefix(line, "Started:"); found {
			return strings.TrimSpace(date)
		}
	}
	return ""
}

// PutAway writes the loop and its summary into a new folder of the archive,
// called name or name-2 and so on, and fresh files in the place of the loop's.
// The old ones are overwritten only once the archive holds them.
func (l Loop) PutAway(name string, summary []byte, fresh []Sheet) (folder string, err error) {
	root, err := openProject(l.memory.Tree)
	if err != nil {
		return "", err
	}
	defer root.Close() //nolint:errcheck // only a handle
	if folder, err = shelf(root, name); err != nil {
		return "", cannotWrite(archiveDir, err)
	}
	if err := lay(root, l.sheets(folder, summary)); err != nil {
		return "", errors.Join(err, root.Remove(folder))
	}
	for _, sheet := range fresh {
		if err := renew(root, sheet); err != nil {
			return folder, cannotWrite(sheet.Path, err)
		}
	}
	return folder, nil
}

// shelf makes the folder, one that was not there.
func shelf(root *untrusted.Root, name string) (string, error) {
	if err := root.MkdirAll(archiveDir, 0o755); err != nil {
		return "", err
	}
	folder := path.Join(archiveDir, name)
	for n := 2; ; n++ {
		err := root.Mkdir(folder, 0o755)
		if !errors.Is(err, fs.ErrExist) {
			return folder, err
		}
		folder = fmt.Sprintf("%s/%s-%d", archiveDir, name, n)
	}
}

func (l Loop) sheets(folder string, summary []byte) []Sheet {
	all := []Sheet{
		{Path: path.Join(folder, planFile), Data: l.PRD},
		{Path: path.Join(folder, "summary.md"), Data: summary},
	}
	if l.Progress != nil {
		all = append(all, Sheet{Path: path.Join(folder, progressFile), Data: l.Progress})
	}
	return all
}

// renew puts a file in the place of another by a rename, so that a full disk
// costs neither.
func renew(root *untrusted.Root, sheet Sheet) error {
	aside := Sheet{Path: sheet.Path + ".new", Data: sheet.Data}
	if err := add(root, aside); err != nil {
		return err
	}
	if err := root.Rename(aside.Path, sheet.Path); err != nil {
		return errors.Join(err, root.Remove(aside.Path))
	}
	return nil
}
