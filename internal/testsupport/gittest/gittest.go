// Package gittest runs git as an agent or a person does, and writes and reads files, for tests only.
package gittest

import (
	"bytes"
	"os"
	"os/exec" //nolint:depguard // as tests do
	"path/filepath"
	"strings"
	"testing"
)

// Environment is that of an agent's git: no settings but those of its repository.
func Environment(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), //nolint:forbidigo // as tests do
		"HOME=" + home, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=ralph", "GIT_AUTHOR_EMAIL=ralph-loop@users.noreply.github.com",
		"GIT_COMMITTER_NAME=ralph", "GIT_COMMITTER_EMAIL=ralph-loop@users.noreply.github.com",
	}
}

// Sh runs a program in a folder with an input, and returns its output without the end of the last line.
func Sh(tb testing.TB, dir, stdin string, argv ...string) string {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), argv[0], argv[1:]...) //nolint:gosec // what a test says
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = Environment(tb.TempDir())
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		tb.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, errs.String())
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// Git runs git in a folder.
func Git(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	return Sh(tb, dir, "", append([]string{"git"}, args...)...)
}

// Write writes a file and the folders above it.
func Write(tb testing.TB, name, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}

// Read returns the text of a file.
func Read(tb testing.TB, name string) string {
	tb.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}
