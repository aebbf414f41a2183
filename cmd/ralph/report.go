package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/redact"
	page "github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/stream"
	"github.com/ralph-loop/ralph/internal/view"
	"github.com/ralph-loop/ralph/internal/workspace"
)

type reportCommand struct {
	ProjectDir string `short:"d" default:"." type:"path" placeholder:"DIR" help:"The project."`
	ID         string `arg:"" optional:"" name:"run" help:"The run; the newest one when not given."`
	Format     string `enum:"html,md,json" default:"html" placeholder:"FORMAT" help:"html: one file that needs nothing else. md: for a comment or a terminal. json: as ralph status --json."`
	Output     string `short:"o" placeholder:"FILE" help:"Where it goes; - is standard output. When not given: report.html beside the journal; the others go to standard output."`
}

// Help gives the example.
func (reportCommand) Help() string {
	return `What a run came to, what failed, its stories, where time and money went, and what
each iteration was asked, said, did and left behind: one HTML file of less than a
megabyte that asks for nothing from the network and needs no script.

Example: ralph report -o report.html`
}

func (reportCommand) guarded() bool { return false }

func (c reportCommand) run(ctx context.Context, w world) (int, error) {
	home, run, err := c.status().find()
	if err != nil {
		return 0, err
	}
	if c.Format == "json" {
		tree, err := c.status().worktree(ctx, w, run)
		if err != nil {
			return 0, err
		}
		return fault.ExitDone, c.write(w, home, func(to io.Writer) error { return printResult(to, run, home, tree) })
	}
	source, done, err := c.source(ctx, w, home, run)
	if err != nil {
		return 0, err
	}
	defer done()
	return fault.ExitDone, c.write(w, home, func(to io.Writer) error { return c.tell(to, source) })
}

// status is the command that tells of the same run.
func (c reportCommand) status() statusCommand {
	return statusCommand{ProjectDir: c.ProjectDir, ID: c.ID}
}

func (c reportCommand) tell(to io.Writer, source page.Source) error {
	if c.Format == "html" {
		made, err := source.HTML()
		if err == nil {
			_, err = to.Write(made)
		}
		return err
	}
	text, err := source.Markdown()
	if err == nil {
		_, err = io.WriteString(to, text)
	}
	return err
}

// source is the run with readers of what lies beside its journal; done gives
// back what they borrowed.
func (c reportCommand) source(ctx context.Context, w world, home workspace.Run, run journal.Run) (source page.Source, done func(), err error) {
	entries, err := home.Entries()
	if err != nil {
		return source, nil, err
	}
	source = page.Source{
		Entries: entries, Hide: redact.New(secrets(w.env)...).String, Words: words(),
		Read:  attachments{workspace.FolderAbove(c.ProjectDir), home}.read,
		Items: func(transcript string) []stream.Item { return itemsOf(run, transcript) },
	}
	if run.Stop == nil && c.status().abandoned(run) {
		source.Notes = []string{"Nobody is at work on it any more: it was killed."}
	}
	tool, done, err := w.git()
	if err != nil {
		return source, nil, err
	}
	dir := filepath.Join(tool.Home, "trusted.git")
	if trusted, err := tool.Lend(ctx, c.ProjectDir, dir); err == nil { // else it is no repository
		source.Diff = func(from, to string) (string, bool, error) {
			return trusted.Diff(ctx, git.Span{From: from, To: to}, mostDiff)
		}
	}
	return source, done, nil
}

// secrets are the keys of all agents there are: the run knew those of its own,
// and what it kept was printed by programs that may have others.
func secrets(getenv func(string) string) []string {
	var all []string
	for _, name := range agent.Names() {
		all = append(all, agent.KeysFrom(getenv, name, "").Secrets()...)
	}
	return all
}

// mostDiff is more of a diff than any page shows.
const mostDiff = 64 << 10

// words are the comment's and the log's.
func words() page.Words {
	return page.Words{
		Headline: view.Headline, Next: view.Next, Cautions: view.Cautions, Comment: view.Comment, Sum: view.Sum, Traffic: view.Traffic,
		Line: view.Line, Spent: view.Spent, Columns: view.Columns(), Cells: view.Cells, Verdict: view.Verdict,
	}
}

// attachments are the files that a journal names: those of its run lie beside
// it, the logs of checks in the project's folder.
type attachments struct {
	folder workspace.Folder
	home   workspace.Run
}

func (a attachments) read(name, digest string) (string, error) {
	if within, is := strings.CutPrefix(filepath.ToSlash(name), ".ralph/"); is {
		return a.folder.Read(filepath.FromSlash(within), digest)
	}
	return workspace.Folder{Path: a.home.Path}.Read(name, digest)
}

// itemsOf is what the agent of a run said and did.
func itemsOf(run journal.Run, transcript string) []stream.Item {
	adapter, err := agent.Pick(run.Policy.Agent, agent.Options{Command: "-", Script: "-", Self: "-"})
	if err != nil || adapter.Decoder == nil {
		return nil
	}
	decoder := adapter.Decoder(agent.Order{})
	var items []stream.Item
	for line := range strings.Lines(transcript) {
		items = append(items, decoder.Line([]byte(strings.TrimSuffix(line, "\n")))...)
	}
	return append(items, decoder.End()...)
}

// write puts the page where it belongs, and says where that is.
func (c reportCommand) write(w world, home workspace.Run, tell func(io.Writer) error) error {
	name := c.Output
	if name == "" && c.Format == "html" {
		return c.put(w, home.File("report.html"), func() (io.WriteCloser, error) { return home.Create("report.html") }, tell)
	}
	if name == "" || name == "-" {
		return tell(w.stdout)
	}
	return c.put(w, name, func() (io.WriteCloser, error) { return os.Create(name) }, tell)
}

// put writes a file.
func (reportCommand) put(w world, name string, create func() (io.WriteCloser, error), tell func(io.Writer) error) error {
	file, err := create()
	if err != nil {
		return fault.Usage("cannot write "+name, "name another file with -o, or - for standard output", err)
	}
	err = tell(file)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w.stdout, name)
	return err
}
