package proof

import (
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// Hunk is a place where lines are replaced, without context.
type Hunk struct {
	File string // its path with the change
	From int    // the line of the first new one, from 1; of a removal: the line before which it was
	Old  []string
	New  []string
}

var hunkHead = pattern.Of(`^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@`)

// Hunks reads a patch of git.
func Hunks(patch string) []Hunk {
	var all []Hunk
	file := ""
	line := 0
	inside := false
	open := Hunk{}
	end := func() {
		if len(open.Old)+len(open.New) > 0 {
			all = append(all, open)
		}
		open = Hunk{}
	}
	for text := range strings.Lines(patch) {
		text = strings.TrimSuffix(text, "\n")
		if head := hunkHead.FindStringSubmatch(text); head != nil {
			end()
			line, _ = strconv.Atoi(head[1]) // it is digits
			inside = true
			continue
		}
		if strings.HasPrefix(text, "diff --git ") {
			end()
			inside = false
			continue
		}
		if !inside {
			file = newFile(text, file)
			continue
		}
		switch {
		case strings.HasPrefix(text, "+"), strings.HasPrefix(text, "-"):
			if len(open.Old)+len(open.New) == 0 {
				open = Hunk{File: file, From: line}
			}
			if text[0] == '-' {
				open.Old = append(open.Old, text[1:])
				continue
			}
			open.New = append(open.New, text[1:])
			line++
		case strings.HasPrefix(text, " ") || text == "":
			end()
			line++
		}
	}
	end()
	return all
}

// newFile returns the path in a line of a patch's head. A removed file keeps its old path.
func newFile(text, before string) string {
	for _, head := range []string{"+++ b/", "--- a/"} {
		if name, ok := strings.CutPrefix(text, head); ok {
			return strings.TrimSuffix(name, "\t")
		}
	}
	return before
}
