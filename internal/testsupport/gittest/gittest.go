// Package gittest runs git as an agent or a person does, and writes and reads files, for tests only.
package gittest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Environment is that of an agent's git: no settings but those of its repository.
func Environment(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=ralph", "GIT_AUTHOR_EMAIL=ralph-loop@users.noreply.github.com",
		"GIT_COMMITTER_NAME=ralph", "GIT_COMMITTER_EMAIL=ralph-loop@users.noreply.github.com",
	}
}

// Sh runs a program in a folder with an input, and returns its output without the end of the last line.
func Sh(t testing.TB, dir, stdin string, argv ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = Environment(t.TempDir())
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, errs.String())
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// Git runs git in a folder.
func Git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	return Sh(t, dir, "", append([]string{"git"}, args...)...)
}

// Write writes a file and the folders above it.
func Write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Read returns the text of a file.
func Read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
