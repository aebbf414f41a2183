package checkout

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ralph-loop/ralph/internal/box/handover"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/proof/checkdef"
	"github.com/ralph-loop/ralph/internal/proof/proof"
	"github.com/ralph-loop/ralph/internal/proof/suite"
)

// Change returns what differs between two commits, and the commits to check out for a proof.
func (c *Clean) Change(ctx context.Context, run journal.Run, base, head string) (proof.Change, error) {
	restored, err := handover.Guarded(ctx, c.Trusted, git.Span{From: base, To: head}, run.Policy.Protect)
	if err != nil {
		return proof.Change{}, err
	}
	b := builder{
		Clean:   c,
		ctx:     ctx,
		run:     run,
		base:    base,
		head:    head,
		defined: c.defined(ctx, run, base, head),
		change:  proof.Change{Restored: restored},
	}
	if err := b.list(); err != nil {
		return proof.Change{}, err
	}
	b.compareManifests()
	if err := b.makeCommits(); err != nil {
		return proof.Change{}, err
	}
	return b.change, c.readError()
}

// builder makes a Change.
type builder struct {
	*Clean

	ctx        context.Context //nolint:containedctx // lives as long as a call
	run        journal.Run
	base, head string
	defined    checkdef.Defined
	change     proof.Change
}

// list lists the changed files, without ralph's own and the restored ones, and reads their lines.
func (b *builder) list() error {
	changes, err := b.Trusted.Compare(b.ctx, git.Span{From: b.base, To: b.head})
	if err != nil {
		return err
	}
	own := append(ownFiles(b.run), memory(b.run).PromptFile())
	for _, d := range changes {
		if git.Ours(d.Path) || slices.Contains(own, d.Path) || slices.Contains(b.change.Restored, d.Path) {
			continue
		}
		b.change.Files = append(b.change.Files, proof.File{
			Path:   d.Path,
			Kind:   b.kind(d.Path),
			AtBase: d.Was(),
			AtHead: d.Mode != git.ModeNone,
		})
	}
	if err := b.markDocuments(); err != nil {
		return err
	}
	return b.readLines()
}

var (
	plainText    = pattern.Of(`\.(md|markdown|rst|txt|adoc)$`)
	patternChars = pattern.Of(`[^\w/-]`) // have a meaning in a pattern, or may have one
)

const mostDocuments = 50

// markDocuments marks text files that no code names as documents.
func (b *builder) markDocuments() error {
	tried := 0
	for i, file := range b.change.Files {
		if tried == mostDocuments {
			return nil
		}
		if file.Kind != proof.Product || !plainText.MatchString(file.Path) {
			continue
		}
		tried++
		escape := func(char string) string { return "[" + char + "]" }
		name := patternChars.ReplaceAllStringFunc(path.Base(file.Path), escape)
		users, err := b.Trusted.FilesMatching(b.ctx, b.head, name)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(users, suite.Code) {
			b.change.Files[i].Kind = proof.Document
		}
	}
	return nil
}

// kind returns what a file is for.
func (b *builder) kind(name string) proof.Kind {
	for _, glob := range b.run.Policy.Tests.Files {
		if ok, err := doublestar.Match(glob, name); ok || err != nil {
			return proof.Test
		}
	}
	switch {
	case b.defined.Has(name):
		return proof.Check
	case suite.Of(name) == suite.Test:
		return proof.Test
	case suite.Of(name) == suite.Support:
		return proof.Support
	case suite.Manifest(name):
		return proof.Manifest
	case suite.Document(name):
		return proof.Document
	}
	return proof.Product
}

// defined returns the files that define the checks, at the base or with the change.
func (c *Clean) defined(ctx context.Context, run journal.Run, base, head string) checkdef.Defined {
	commands := checkdef.Commands{Within: run.Policy.Subfolder}
	for _, check := range run.Policy.Checks {
		commands.Checks = append(commands.Checks, check.Command)
	}
	for _, command := range run.Policy.Setup {
		commands.Setup = append(commands.Setup, command.Command)
	}
	baseFiles := c.reader(ctx, base)
	headFiles := c.reader(ctx, head)
	return checkdef.Of(commands, func(name string) []byte {
		if text := baseFiles.file(name); text != nil {
			return text
		}
		return headFiles.file(name)
	})
}

// newSettings matches files from which a tool may read its settings.
var newSettings = pattern.Of(`(^|/)(\.[^/]+|[^/]+\.(config|conf)\.[a-z]+|[^/]+\.(ini|cfg|toml))$`)

const mostDiff = 4 << 20

// readLines reads the lines of the change: how many there are, which files lose some, and what a person should see.
func (b *builder) readLines() error {
	patch, cut, err := b.Trusted.Diff(b.ctx, git.Span{From: b.base, To: b.head}, mostDiff)
	if err != nil {
		return err
	}
	b.change.Hunks = proof.Hunks(patch)
	if cut {
		b.needsReview("large", "", "the change is too large to be read")
	}
	removes := map[string]bool{}
	skips := map[string]bool{} // files in which a test is skipped
	asks := map[string]bool{}  // files that ask whether they are being tested
	for _, hunk := range b.change.Hunks {
		b.change.Lines += len(hunk.Old) + len(hunk.New)
		removes[hunk.File] = removes[hunk.File] || len(hunk.Old) > 0
		for _, line := range hunk.New {
			isSkip := suite.Skips.MatchString(line) && !containsLine(hunk.Old, line)
			skips[hunk.File] = skips[hunk.File] || isSkip
			asks[hunk.File] = asks[hunk.File] || suite.Asks.MatchString(line)
		}
	}
	for i, file := range b.change.Files {
		b.change.Files[i].Removes = removes[file.Path] || !file.AtHead
		isProduct := file.Kind == proof.Product
		switch {
		case file.Kind == proof.Check:
			b.needsReview("check_file", file.Path,
				"it defines the checks, and was changed: the proof had the base's version")
		case isProduct && !file.AtBase && newSettings.MatchString(file.Path):
			b.needsReview("settings", file.Path, "a tool may read its settings from this new file")
		case file.Kind == proof.Test && skips[file.Path]:
			b.needsReview("skipped", file.Path, "a test is skipped")
		case isProduct && suite.Code(file.Path) && asks[file.Path]:
			b.needsReview("asks_for_tests", file.Path, "the code asks whether it is being tested")
		}
	}
	return nil
}

func containsLine(lines []string, line string) bool {
	return slices.ContainsFunc(lines, func(other string) bool {
		return strings.TrimSpace(other) == strings.TrimSpace(line)
	})
}

func (b *builder) needsReview(kind, file, why string) {
	b.change.Look = append(b.change.Look, journal.Look{Kind: kind, File: file, Why: why})
}

// compareManifests lists manifests in which more differs than dependencies.
func (b *builder) compareManifests() {
	base := b.reader(b.ctx, b.base)
	head := b.reader(b.ctx, b.head)
	for _, file := range b.change.Files {
		if file.Kind != proof.Manifest || !file.AtHead {
			continue
		}
		parts := checkdef.Differs(file.Path, base.file(file.Path), head.file(file.Path), b.defined.Scripts)
		if len(parts) > 0 {
			b.needsReview("manifest", file.Path, "it may change what the checks do: "+journal.ShortList(parts))
		}
	}
}

// makeCommits makes the commits to check out. All of them have the base's check files and protected files.
func (b *builder) makeCommits() error {
	checkFiles := b.paths(proof.Check)
	tests := slices.Concat(b.paths(proof.Test), b.paths(proof.Support))
	manifests := b.paths(proof.Manifest)
	protected, err := b.overlay(b.head, b.base, slices.Concat(b.change.Restored, ownFiles(b.run)), nil)
	if err != nil {
		return err
	}
	b.change.Head, err = b.overlay(protected, b.base, checkFiles, nil)
	if err != nil {
		return err
	}
	if b.change.Head != protected {
		b.change.Own = protected
	}
	oldModules, newModules := b.testModules()
	isOldTest := func(file proof.File) bool { return isTest(file) && file.AtBase }
	isNewTest := func(file proof.File) bool { return isTest(file) && file.AtHead }
	if len(oldModules) > 0 || slices.ContainsFunc(b.change.Files, isOldTest) {
		b.change.OldTests, err = b.overlay(b.change.Head, b.base, tests, oldModules)
		if err != nil {
			return err
		}
	}
	if len(newModules) == 0 && !slices.ContainsFunc(b.change.Files, isNewTest) {
		return nil
	}
	b.change.Setup, err = b.overlay(b.base, b.head, manifests, nil)
	if err != nil {
		return err
	}
	b.change.NewTests, err = b.overlay(b.change.Setup, b.head, tests, newModules)
	return err
}

// isTest reports whether a file is a test or serves one.
func isTest(file proof.File) bool { return file.Kind == proof.Test || file.Kind == proof.Support }

func (b *builder) paths(kind proof.Kind) []string {
	var names []string
	for _, file := range b.change.Files {
		if file.Kind == kind {
			names = append(names, file.Path)
		}
	}
	return names
}

func (b *builder) overlay(onto, from string, paths []string, texts map[string][]byte) (string, error) {
	return b.Trusted.Overlay(b.ctx, git.Overlay{Onto: onto, From: from, Paths: paths, Texts: texts})
}

// testModules returns the files of Rust that have tests beside their code: the head's code with the base's tests, and
// the base's code with the head's tests.
func (b *builder) testModules() (withOldTests, withNewTests map[string][]byte) {
	withOldTests = map[string][]byte{}
	withNewTests = map[string][]byte{}
	base := b.reader(b.ctx, b.base)
	head := b.reader(b.ctx, b.head)
	for i, file := range b.change.Files {
		if file.Kind != proof.Product || !strings.HasSuffix(file.Path, ".rs") {
			continue
		}
		oldCode, oldTests := splitRust(string(base.file(file.Path)))
		newCode, newTests := splitRust(string(head.file(file.Path)))
		if oldTests == newTests {
			continue
		}
		if oldCode == newCode {
			b.change.Files[i].Kind = proof.Test
		}
		if oldTests != "" {
			withOldTests[file.Path] = []byte(newCode + oldTests)
		}
		if newTests != "" && file.AtBase {
			withNewTests[file.Path] = []byte(oldCode + newTests)
		}
	}
	return withOldTests, withNewTests
}
