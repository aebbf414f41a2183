package proofcheck

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/checkout"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/pattern"
)

// maxPatch bounds the patch of a file in which the first change is looked for.
const maxPatch = 1 << 20

func lines(ctx context.Context, code *git.Trusted, o checkout.Outcome) func(string) int {
	files := slices.Clone(o.Restored)
	for _, held := range o.Held {
		files = append(files, held.File)
	}
	found := map[string]int{}
	for _, file := range files[:min(len(files), maxNotes)] {
		patch, _, err := code.Diff(ctx, git.Span{From: o.Base, To: o.Head}, maxPatch, file)
		if err == nil {
			found[file] = firstChange(patch)
		}
	}
	return func(file string) int { return found[file] }
}

var hunk = pattern.Of(`(?m)^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@`)

// firstChange is the first line of the new file that a patch touches; 0: the file is gone.
func firstChange(patch string) int {
	at := hunk.FindStringSubmatch(patch)
	if at == nil {
		return 0
	}
	line, err := strconv.Atoi(at[1])
	if err != nil {
		return 0
	}
	_, body, _ := strings.Cut(patch, at[0])
	_, body, _ = strings.Cut(body, "\n")
	for text := range strings.Lines(body) {
		if !strings.HasPrefix(text, " ") {
			break
		}
		line++
	}
	return line
}
