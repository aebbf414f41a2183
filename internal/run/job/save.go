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
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
	"github.com/ralph-loop/ralph/internal/run/recorded"
	"github.com/ralph-loop/ralph/internal/show/evidence"
)

// ErrTakenOver says that another job continues the run.
var ErrTakenOver = errors.New("another job has taken this over")

// saveRun ends this job if another one has continued the run.
func (p *publisher) saveRun(ctx context.Context, run journal.Run, emit emit) error {
	return p.attempt(ctx, run, "shelve", emit, func() (journal.Event, error) {
		shelved, err := p.putFiles(ctx, run)
		if errors.Is(err, ErrTakenOver) {
			return journal.CancelAsked{Why: err.Error()}, nil
		}
		return shelved, err
	})
}

func (p *publisher) putFiles(ctx context.Context, run journal.Run) (journal.Shelved, error) {
	if p.remote.RunStore == nil {
		return journal.Shelved{}, errNoRemote
	}
	files, err := p.record.home.Pack()
	if err != nil {
		return journal.Shelved{}, err
	}
	prd, err := run.Plan.Marshal()
	if err != nil {
		return journal.Shelved{}, err
	}
	files["prd.json"] = prd
	files[progressFile] = p.record.progressLog(run)
	shelved, err := p.remote.RunStore(ctx, run, files)
	shelved.Ended = run.JudgedIterations()
	return shelved, err
}

const finalSaveTimeout = 4 * time.Second

// saveFiles saves the files of a stopped run for another machine.
func (p *publisher) saveFiles(ctx context.Context, run journal.Run) error {
	if !run.Policy.SaveRun || p.remote.RunStore == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, finalSaveTimeout)
	defer cancel()
	shelved, err := p.putFiles(ctx, run)
	if err != nil {
		return err
	}
	return p.record.Append(shelved)
}

const outFolder = ".ralph-out"

// maxCommentPatch is how many bytes of a patch fit into the run's comment.
const maxCommentPatch = 8 << 10

// saveBundle writes work that could not be pushed to a file.
func (p *publisher) saveBundle(ctx context.Context, run journal.Run) error {
	if p.job.OutputDir == "" || !isUnpushed(run) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, finalSaveTimeout)
	defer cancel()
	packed, err := p.writeBundle(ctx, run)
	if err != nil {
		return err
	}
	return p.record.Append(packed)
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
func (p *publisher) writeBundle(ctx context.Context, run journal.Run) (journal.Packed, error) {
	packed := journal.Packed{Path: outFolder + "/" + run.ID + ".bundle", Head: run.Head}
	out, err := untrusted.OpenRoot(p.job.OutputDir)
	if err != nil {
		return packed, fmt.Errorf("open %s: %w", p.job.OutputDir, err)
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
	packed.Patch = p.patch(ctx, span)
	return packed, errors.Join(remote.Bundle(ctx, p.repo.trusted, file, run.Branch, span), file.Close())
}

// patch is empty if it would not be complete; the bundle holds everything.
func (p *publisher) patch(ctx context.Context, span git.Span) string {
	text, cut, err := p.repo.trusted.Diff(ctx, span, maxCommentPatch)
	if err != nil {
		p.record.log("the work is not shown as a patch: " + fault.Told(err))
		return ""
	}
	if cut || strings.Contains(text, "\nBinary files ") || strings.Contains(text, "\uFFFD") {
		return ""
	}
	return text
}

// EvidenceName is the name of the evidence file in a run's folder.
const EvidenceName = "evidence.json"

func (s *activeRun) writeEvidence(ctx context.Context, run journal.Run) error {
	if run.Policy.Done != policy.ByStories {
		return nil
	}
	tools := map[string]string{"ralph": s.job.Version}
	if version, err := s.job.Machine.Git.Version(ctx); err == nil {
		tools["git"] = version
	}
	data, err := evidence.Of(run, tools).Marshal()
	if err != nil {
		return err
	}
	_, err = s.record.saveText(EvidenceName, string(data))
	return err
}

// writePage writes the report page. A cancelled job has no time for it.
func (s *activeRun) writePage(ctx context.Context, run journal.Run) error {
	if !s.job.PageWanted || run.Stop.Reason == policy.Cancelled {
		return nil
	}
	source, err := recorded.Files{Home: s.record.home, Code: s.repo.trusted, Hide: s.record.redacted}.Source(ctx)
	if err != nil {
		return err
	}
	page, err := source.HTML()
	if err != nil {
		return err
	}
	return s.record.home.WriteFile(workspace.PageFile, page)
}

// ExistingFile returns the path of a run's file, or nothing if there is none.
func ExistingFile(home workspace.Run, name string) string {
	if home.ID == "" || !home.Exists(name) {
		return ""
	}
	return home.File(name)
}
