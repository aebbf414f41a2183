package git

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Strays are the files that nothing tracks or ignores, as patterns by which git
// would ignore them. A folder of nothing else is one of them, with all that is
// in it.
func (t *Tree) Strays(ctx context.Context) ([]string, error) {
	quiet, err := t.tame(ctx)
	if err != nil {
		return nil, err
	}
	args := []string{"ls-files", "--others", "--exclude-standard", "--directory", "--no-empty-directory", "-z"}
	out, err := quiet.Do(ctx, Call{Args: args})
	if err != nil {
		return nil, fmt.Errorf("look for stray files: %w", err)
	}
	var patterns []string
	for path := range strings.SplitSeq(string(out), "\x00") {
		if path != "" && !strings.ContainsAny(path, "\r\n") { // a pattern is a line
			patterns = append(patterns, "/"+plainly.Replace(path))
		}
	}
	return patterns, nil
}

// plainly has git take what it would take for a pattern, or for the end of one,
// as it stands.
var plainly = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, ` `, `\ `, "\t", "\\\t")

// Ignore has git overlook more in a tree that was grown, whoever runs it there.
func (t *Tree) Ignore(patterns []string) error {
	if len(patterns) == 0 {
		return nil
	}
	inside, err := untrusted.OpenRoot(t.lair().dir) // no link leads out of it
	if err != nil {
		return fmt.Errorf("have files ignored: %w", err)
	}
	defer inside.Close() //nolint:errcheck // the file is closed by itself
	const name = "info/exclude"
	there, err := inside.ReadFile(name, 1<<20)
	if err != nil {
		return fmt.Errorf("have files ignored: %w", err)
	}
	if err := inside.WriteFile(name, append(there, strings.Join(patterns, "\n")+"\n"...), 0o644); err != nil {
		return fmt.Errorf("have files ignored: %w", err)
	}
	return nil
}
