package handover

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// Authorship sets the metadata of every accepted commit: GitHub acts on a commit's
// message, and believes its author and date.
type Authorship struct {
	By           git.Identity // author and committer; default: ralph
	Since, Until time.Time    // dates outside these become Since; a zero time is no limit
	Trailers     []string     // ralph's own, which stay at the end of a message; each has the first
	SignOff      bool         // add ralph's Signed-off-by
}

// commit returns the text of a commit with a new tree and parents. It drops the signature, which is no longer valid,
// and the encoding: the message is UTF-8.
func (a Authorship) commit(c commit, tree string, parents []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	by := cmp.Or(a.By, git.Ralph)
	fmt.Fprintf(&b, "author %s %s\n", by, a.date(c.lines[0]))
	fmt.Fprintf(&b, "committer %s %s\n", by, a.date(c.lines[1]))
	fmt.Fprintf(&b, "\n%s", a.message(c.message))
	return b.String()
}

var dateForm = pattern.Of(`> ([0-9]{1,11}) ([+-](?:0[0-9]|1[0-4])[0-5][0-9])$`)

func (a Authorship) date(line string) string {
	if found := dateForm.FindStringSubmatch(line); found != nil {
		at, _ := strconv.ParseInt(found[1], 10, 64)
		if at >= a.Since.Unix() && (a.Until.IsZero() || at <= a.Until.Unix()) {
			return found[1] + " " + found[2]
		}
	}
	return fmt.Sprintf("%d +0000", max(a.Since.Unix(), 0))
}

func (a Authorship) message(text string) string {
	trailers := strings.Join(a.Trailers, "\n")
	text, hasTrailers := strings.CutSuffix(strings.TrimRight(text, "\n"), "\n\n"+trailers)
	text = cmp.Or(clean.CommitMessage(text), "chore: a commit without a message\n")
	if !hasTrailers {
		trailers = strings.Join(a.Trailers[:min(1, len(a.Trailers))], "")
	}
	if trailers != "" {
		text += "\n" + trailers + "\n"
	}
	if a.SignOff {
		text = clean.SignedOff(text, git.Ralph.String())
	}
	return text
}
