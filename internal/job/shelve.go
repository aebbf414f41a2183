package job

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/evidence"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// ErrTakenOver says that another job goes on with the run.
var ErrTakenOver = errors.New("another job has taken this over")

// keeping saves a run and its work where the end of the machine is not theirs.
type keeping struct {
	*publishing
	out string // the folder of files for later steps; empty: none
}

func (s *site) keeping() keeping { return keeping{s.publishing(), s.Out} }

// shelve keeps the run as it stands for another machine. Where another one has
// gone on with it there is nothing left to do here.
func (k keeping) shelve(ctx context.Context, run journal.Run, _ verdict.SaveRun, emit emit) error {
	return k.attempt(ctx, run, "shelve", emit, func() (journal.Event, error) {
		shelved, err := k.keep(ctx, run)
		if errors.Is(err, ErrTakenOver) {
			return journal.CancelAsked{Why: err.Error()}, nil
		}
		return shelved, err
	})
}

// keep gathers what another machine needs, and hands it to the shelf.
func (k keeping) keep(ctx context.Context, run journal.Run) (journal.Shelved, error) {
	if k.Shelf == nil {
		return journal.Shelved{}, errNowhere
	}
	files, err := k.home.Carry()
	if err != nil {
		return journal.Shelved{}, err
	}
	prd, err := run.Plan.Marshal()
	if err != nil {
		return journal.Shelved{}, err
	}
	progress, err := k.progress(run)
	if err != nil {
		return journal.Shelved{}, err
	}
	files["prd.json"], files[progressFile] = prd, progress
	shelved, err := k.Shelf.Put(ctx, run, files)
	shelved.Ended = run.Judged()
	return shelved, err
}

// parting is how long the last of a run may take to be kept.
const parting = 4 * time.Second

// saveState keeps a run that has stopped: how it ended is for the next one to know. A
// run is not worth less because that could not be done; it is said in the log.
func (k keeping) saveState(ctx context.Context) {
	run := k.Run()
	if !run.Policy.Shelve || k.Shelf == nil || run.Stop == nil || k.ended() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), parting)
	defer cancel()
	shelved, err := k.keep(ctx, run)
	if err == nil {
		err = k.Append(shelved)
	}
	if err != nil {
		k.people.Log("could not save the run for another machine: " + fault.Told(err))
	}
}

// outFolder is where a later step of a job finds what a run gave out as a file.
const outFolder = ".ralph-out"

// smallPatch is how much of a patch the comment of a run has room for beside all
// else.
const smallPatch = 8 << 10

// pack makes a file of work that could not be pushed anywhere, so that the end of
// the machine is not the end of it. A run is not worth less because that failed;
// it is said in the log.
func (k keeping) pack(ctx context.Context) {
	run := k.Run()
	if k.out == "" || run.Stop == nil || k.ended() || !stranded(run) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), parting)
	defer cancel()
	packed, err := k.bundle(ctx, run)
	if err == nil {
		var refused error
		if packed.Rest, packed.Without, refused = k.spare(ctx, run); refused != nil {
			k.people.Log("no part of the work could be pushed either: " + refused.Error())
			packed.Rest, packed.Without = "", nil
		}
		err = k.Append(packed)
	}
	if err != nil {
		k.people.Log("could not save the work in a file: " + fault.Told(err))
	}
}

// stranded tells of work that was to be pushed and is on this machine alone.
func stranded(run journal.Run) bool {
	aside := run.Parted != nil && run.Parted.Aside != ""
	return run.Policy.Publish && !verdict.IsUnchanged(run) && run.Pushed != run.Head && !aside && (!run.Task.Update || run.Head != run.Start)
}

// bundle writes the file. No link leads out of the folder.
func (k keeping) bundle(ctx context.Context, run journal.Run) (journal.Packed, error) {
	packed := journal.Packed{Path: outFolder + "/" + run.ID + ".bundle", Head: run.Head}
	if err := k.refetch(ctx, run); err != nil {
		return packed, err
	}
	out, err := untrusted.OpenRoot(k.out)
	if err != nil {
		return packed, fmt.Errorf("open %s: %w", k.out, err)
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
	packed.Patch = k.patch(ctx, span)
	return packed, errors.Join(remote.Bundle(ctx, k.trusted, file, run.Branch, span), file.Close())
}

// patch is the work as people can take it from a comment; empty where that is not
// all of it, to the byte. The file is there without.
func (k keeping) patch(ctx context.Context, span git.Span) string {
	text, cut, err := k.trusted.Diff(ctx, span, smallPatch)
	if err != nil {
		k.people.Log("the work is not shown as a patch: " + fault.Told(err))
	}
	if err != nil || cut || strings.Contains(text, "\nBinary files ") || strings.Contains(text, "\uFFFD") {
		return ""
	}
	return text
}

// Evidence is the name of the file in a run's folder that says what the run rests on.
const Evidence = "evidence.json"

// testify writes down what the run rests on, and signs it. That it failed is said in the log.
func (s *site) testify(ctx context.Context) {
	run := s.Run()
	if run.Stop == nil || run.Policy.Done != policy.ByStories || s.ended() {
		return
	}
	tools := map[string]string{"ralph": s.Version}
	if version, err := s.Git.Version(context.WithoutCancel(ctx)); err == nil {
		tools["git"] = version
	}
	data, err := evidence.Of(run, tools).Marshal()
	if err == nil {
		_, err = s.attach(Evidence, string(data))
	}
	if err == nil && ctx.Err() == nil {
		err = s.Attest.Attest(ctx, s.home, []byte(s.hidden(string(data))))
	}
	if err != nil {
		s.Log("could not write or sign " + Evidence + ": " + err.Error())
	}
}
