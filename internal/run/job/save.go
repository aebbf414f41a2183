package job

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
	"github.com/ralph-loop/ralph/internal/show/evidence"
)

// ErrTakenOver says that another job continues the run.
var ErrTakenOver = errors.New("another job has taken this over")

// saveRun ends this job if another one has continued the run.
func (s publishing) saveRun(ctx context.Context, run journal.Run, emit emit) error {
	return s.attempt(ctx, run, "shelve", emit, func() (journal.Event, error) {
		shelved, err := s.putFiles(ctx, run)
		if errors.Is(err, ErrTakenOver) {
			return journal.CancelAsked{Why: err.Error()}, nil
		}
		return shelved, err
	})
}

func (s *records) putFiles(ctx context.Context, run journal.Run) (journal.Shelved, error) {
	if s.RunStore == nil {
		return journal.Shelved{}, errNoRemote
	}
	files, err := s.home.Pack()
	if err != nil {
		return journal.Shelved{}, err
	}
	prd, err := run.Plan.Marshal()
	if err != nil {
		return journal.Shelved{}, err
	}
	files["prd.json"] = prd
	files[progressFile] = s.progressLog(run)
	shelved, err := s.RunStore(ctx, run, files)
	shelved.Ended = run.JudgedIterations()
	return shelved, err
}

const finalSaveTimeout = 4 * time.Second

// saveStoppedRun only logs errors.
func (s *records) saveStoppedRun(ctx context.Context) {
	run := s.Run()
	if !run.Policy.SaveRun || s.RunStore == nil || run.Stop == nil || s.isAborted() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalSaveTimeout)
	defer cancel()
	if err := s.recordFiles(ctx, run); err != nil {
		s.Log("could not save the run for another machine: " + fault.Told(err))
	}
}

func (s *records) recordFiles(ctx context.Context, run journal.Run) error {
	shelved, err := s.putFiles(ctx, run)
	if err != nil {
		return err
	}
	return s.Append(shelved)
}

const outFolder = ".ralph-out"

// maxCommentPatch is how many bytes of a patch fit into the run's comment.
const maxCommentPatch = 8 << 10

// saveBundle writes work that could not be pushed to a file. An error is only logged.
func (s publishing) saveBundle(ctx context.Context) {
	run := s.Run()
	if s.OutputDir == "" || run.Stop == nil || s.isAborted() || !isUnpushed(run) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalSaveTimeout)
	defer cancel()
	if err := s.recordBundle(ctx, run); err != nil {
		s.Log("could not save the work in a file: " + fault.Told(err))
	}
}

func (s publishing) recordBundle(ctx context.Context, run journal.Run) error {
	packed, err := s.writeBundle(ctx, run)
	if err != nil {
		return err
	}
	return s.Append(packed)
}

func isUnpushed(run journal.Run) bool {
	if !run.Policy.Publish || verdict.IsUnchanged(run) {
		return false
	}
	if run.Published.Pushed == run.Head {
		return false
	}
	if run.Merging.Parted != nil && run.Merging.Parted.Aside != "" {
		return false // another branch has it
	}
	return !run.Task.Update || run.Head != run.Start
}

// writeBundle writes the file. No link leads out of the folder.
func (s publishing) writeBundle(ctx context.Context, run journal.Run) (journal.Packed, error) {
	packed := journal.Packed{Path: outFolder + "/" + run.ID + ".bundle", Head: run.Head}
	if err := s.refetch(ctx, run); err != nil {
		return packed, err
	}
	out, err := untrusted.OpenRoot(s.OutputDir)
	if err != nil {
		return packed, fmt.Errorf("open %s: %w", s.OutputDir, err)
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
	return packed, errors.Join(remote.Bundle(ctx, s.trusted, file, run.Branch, span), file.Close())
}

// patch is empty if it would not be complete; the bundle holds everything.
func (s publishing) patch(ctx context.Context, span git.Span) string {
	text, cut, err := s.trusted.Diff(ctx, span, maxCommentPatch)
	if err != nil {
		s.Log("the work is not shown as a patch: " + fault.Told(err))
		return ""
	}
	if cut || strings.Contains(text, "\nBinary files ") || strings.Contains(text, "\uFFFD") {
		return ""
	}
	return text
}

// EvidenceName is the name of the evidence file in a run's folder.
const EvidenceName = "evidence.json"

func (s *records) writeEvidence(ctx context.Context) {
	run := s.Run()
	if run.Stop == nil || run.Policy.Done != policy.ByStories || s.isAborted() {
		return
	}
	tools := map[string]string{"ralph": s.Version}
	if version, err := s.Git.Version(context.WithoutCancel(ctx)); err == nil {
		tools["git"] = version
	}
	data, err := evidence.Of(run, tools).Marshal()
	if err != nil {
		s.Log("could not write " + EvidenceName + ": " + err.Error())
		return
	}
	if _, err := s.saveText(EvidenceName, string(data)); err != nil {
		s.Log("could not write " + EvidenceName + ": " + err.Error())
	}
}
