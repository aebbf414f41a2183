// Package image_test tries what stands in for npm in the image without node.
package image_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// registry has an agent's package, whose program for this machine is a package of
// its own, and one that npm calls by an alias.
func registry(t *testing.T, integrity func([]byte) string) string {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipped)
	for _, name := range []string{"claude", "codex"} {
		program := "#!/bin/sh\necho " + name + "\n"
		if err := archive.WriteHeader(&tar.Header{Name: "package/vendor/bin/" + name, Mode: 0o644, Size: int64(len(program))}); err != nil {
			t.Fatal(err)
		}
		_, _ = archive.Write([]byte(program))
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	_ = zipped.Close()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	says := func(path, text string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) })
	}
	own := fmt.Sprintf(`{"version":"1.2.3","dist":{"integrity":%q,"tarball":%q}}`, integrity(packed.Bytes()), server.URL+"/package.tgz")
	says("/package.tgz", packed.String())
	says("/@anthropic-ai/claude-code/latest", `{"optionalDependencies":{"@anthropic-ai/claude-code-linux-x64":"1.2.3","@anthropic-ai/claude-code-linux-arm64":"1.2.3"},"dist":{"integrity":"sha512-x"}}`)
	says("/@openai/codex/1.2.3", `{"optionalDependencies":{"@openai/codex-linux-x64":"npm:@openai/codex@1.2.3-own","@openai/codex-linux-arm64":"npm:@openai/codex@1.2.3-own"}}`)
	for _, path := range []string{"/@anthropic-ai/claude-code-linux-x64/1.2.3", "/@anthropic-ai/claude-code-linux-arm64/1.2.3", "/@openai/codex/1.2.3-own"} {
		says(path, own)
	}
	return server.URL
}

// npm is asked as internal/entry/action asks it.
func npm(t *testing.T, registry, what string) (prefix, said string, err error) {
	t.Helper()
	prefix = t.TempDir()
	cmd := exec.CommandContext(t.Context(), "sh", "npm.sh", "install", "--prefix", prefix, "--no-save", "--loglevel=error", "--", what)
	cmd.Env = append(os.Environ(), "npm_config_registry="+registry)
	out, err := cmd.CombinedOutput()
	return prefix, string(out), err
}

func sound(text []byte) string {
	sum := sha512.Sum512(text)
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

// An agent is installed by version or by tag, and starts from where npm's own
// would put it.
func TestAnAgentIsInstalledWithoutNode(t *testing.T) {
	t.Parallel()
	from := registry(t, sound)
	for program, what := range map[string]string{"claude": "@anthropic-ai/claude-code@latest", "codex": "@openai/codex@1.2.3"} {
		prefix, said, err := npm(t, from, what)
		if err != nil {
			t.Fatalf("%s: %v\n%s", what, err, said)
		}
		if err := os.Rename(prefix, prefix+".renamed"); err != nil { // as internal/entry/action does
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), filepath.Join(prefix+".renamed", "node_modules", ".bin", program)).Output()
		if string(out) != program+"\n" || err != nil {
			t.Errorf("%s says %q, %v", program, out, err)
		}
	}
}

// What is not what the registry tells, what needs node and what is not there is
// refused, and leaves no program.
func TestWhatIsNotAnAgentIsRefused(t *testing.T) {
	t.Parallel()
	good, swapped := registry(t, sound), registry(t, func([]byte) string { return sound(nil) })
	for _, one := range []struct{ from, what, want string }{
		{swapped, "@anthropic-ai/claude-code@latest", "has the sha512 "},
		{good, "@google/gemini-cli@1.2.3", "needs node"},
		{good, "@openai/codex@9", "cannot get"},
	} {
		prefix, said, err := npm(t, one.from, one.what)
		if err == nil || !strings.Contains(said, one.want) {
			t.Errorf("%s: %v: %q, want %q", one.what, err, said, one.want)
		}
		if left, _ := filepath.Glob(filepath.Join(prefix, "node_modules", ".bin", "*")); len(left) > 0 {
			t.Errorf("%s left %q", one.what, left)
		}
	}
}
