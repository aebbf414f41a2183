package job

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// outFolder is where a later step of a job finds what a run gave out as a file.
const outFolder = ".ralph-out"

// smallPatch is how much of a patch the comment of a run has room for beside all
// else.
const smallPatch = 8 << 10

// pack makes a file of work that could not be pushed anywhere, so that the end of
// the machine is not the end of it. A run is not worth less because that failed;
// it is said in the log.
func (s *site) pack(ctx context.Context) {
	run := s.Run()
	if s.Out == "" || run.Stop == nil || s.ended() || !stranded(run) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), parting)
	defer cancel()
	packed, err := s.bundle(ctx, run)
	if err == nil {
		var refused error
		if packed.Rest, packed.Without, refused = s.spare(ctx, run); refused != nil {
			s.Log("no part of the work could be pushed either: " + refused.Error())
			packed.Rest, packed.Without = "", nil
		}
		err = s.Append(packed)
	}
	if err != nil {
		s.Log("the work could not be put into a file: " + fault.Told(err))
	}
}

// stranded tells of work that was to be pushed and is on this machine alone.
func stranded(run journal.Run) bool {
	aside := run.Parted != nil && run.Parted.Aside != ""
	return run.Policy.Publish && !verdict.Unchanged(run) && run.Pushed != run.Head && !aside
}

// bundle writes the file. No link leads out of the folder.
func (s *site) bundle(ctx context.Context, run journal.Run) (journal.Packed, error) {
	packed := journal.Packed{Path: outFolder + "/" + run.ID + ".bundle", Head: run.Head}
	if err := s.refetch(ctx); err != nil {
		return packed, err
	}
	out, err := untrusted.OpenRoot(s.Out)
	if err != nil {
		return packed, fmt.Errorf("open %s: %w", s.Out, err)
	}
	defer out.Close() //nolint:errcheck // nothing is written through it any more
	if err := out.MkdirAll(outFolder, 0o755); err != nil {
		return packed, fmt.Errorf("make %s: %w", outFolder, err)
	}
	file, err := out.Create(filepath.FromSlash(packed.Path))
	if err != nil {
		return packed, fmt.Errorf("make %s: %w", packed.Path, err)
	}
	span := git.Span{From: run.Base, To: run.Head}
	packed.Patch = s.patch(ctx, span)
	return packed, errors.Join(s.trusted.Bundle(ctx, file, run.Branch, span), file.Close())
}

// patch is the work as people can take it from a comment; empty where that is not
// all of it, to the byte. The file is there without.
func (s *site) patch(ctx context.Context, span git.Span) string {
	text, cut, err := s.trusted.Diff(ctx, span, smallPatch)
	if err != nil {
		s.Log("the work is not shown as a patch: " + fault.Told(err))
	}
	if err != nil || cut || strings.Contains(text, "\nBinary files ") || strings.Contains(text, "\uFFFD") {
		return ""
	}
	return text
}
