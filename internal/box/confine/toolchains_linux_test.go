package confine_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// TestMain makes this test binary the sandbox's launcher, as ralph is.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != sandbox.Hidden {
		os.Exit(m.Run())
	}
	if err := sandbox.Launch(sandbox.Launcher{Args: os.Args[2:], Env: os.Environ(), Exit: syscall.Exit, Hear: func(...os.Signal) <-chan os.Signal { return make(chan os.Signal, 1) }}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(125)
	}
	syscall.Exit(0)
}

// toolchains are commands of tools that the machine may have. They run in a small project.
var toolchains = map[string]string{
	"cargo":   "cargo --version; cargo build --offline; cargo test --offline",
	"go":      "go version; go build ./...; go test ./...",
	"gradle":  "gradle --version",
	"java":    "java -version; javac -d built Shop.java; java -cp built Shop",
	"mvn":     "mvn --version; mvn -o -q validate",
	"node":    "node --version; node --check shop.test.js; node --test",
	"npm":     "npm --version; npm run build; npm test",
	"pnpm":    "pnpm --version; pnpm run build; pnpm test",
	"poetry":  "poetry --version; poetry version",
	"pyenv":   "pyenv --version; pyenv versions",
	"python3": "python3 --version; python3 -m compileall -q shop.py; python3 -m unittest shop",
	"ruby":    "ruby --version; ruby -c shop.rb; ruby shop.rb",
	"uv":      "uv --version; uv python find",
}

const shop = `
-- Cargo.toml --
[package]
name = "shop"
version = "1.0.0"
-- src/lib.rs --
#[test]
fn sells() {}
-- go.mod --
module example.com/shop
go 1.24
require github.com/google/go-cmp VERSION
-- shop_test.go --
package shop
import ("testing"; "github.com/google/go-cmp/cmp")
func TestShop(t *testing.T) { if !cmp.Equal(1, 1) { t.Fail() } }
-- shop.go --
package shop
-- Shop.java --
class Shop { public static void main(String[] args) {} }
-- pom.xml --
<project><modelVersion>4.0.0</modelVersion><groupId>shop</groupId><artifactId>shop</artifactId><version>1</version><packaging>pom</packaging></project>
-- shop.test.js --
require('node:test')('sells', () => {})
-- package.json --
{"scripts": {"build": "node --check shop.test.js", "test": "node --test"}}
-- pyproject.toml --
[tool.poetry]
name = "shop"
version = "1.0.0"
description = ""
authors = []
-- shop.py --
import unittest
class Shop(unittest.TestCase):
    def test_sells(self): pass
-- shop.rb --
require 'set'
`

// The tools of this machine work at each level without a network: for the agent and in proofs.
func TestToolchains(t *testing.T) {
	if testing.Short() {
		t.Skip("builds with each tool at each level")
	}
	for name, test := range map[string]struct {
		level sandbox.Level
		proof bool
	}{
		"namespace":        {sandbox.Namespace, false},
		"namespace, proof": {sandbox.Namespace, true},
		"notify":           {sandbox.Notify, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := project(t)
			sb, err := confine.Start(t.Context(), confine.Options{
				Level: test.level, Exec: new(process.Runner).Run, Temp: t.TempDir(), Env: os.Environ(), Path: os.Getenv("PATH"),
				Home: os.Getenv("HOME"), WorkDirs: []string{dir}, Private: []string{dir}, Network: confine.Network{Allow: []string{"none.example.com"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = sb.Close() })
			run := sb.Around(confine.Access{Write: []string{dir}, Proof: test.proof})
			for tool, commands := range toolchains {
				if _, err := exec.LookPath(tool); err != nil {
					t.Log("not on this machine:", tool)
					continue
				}
				t.Run(tool, func(t *testing.T) {
					var said bytes.Buffer
					res, err := run(t.Context(), process.Command{
						Argv: []string{"sh", "-exc", commands}, Dir: dir, Env: sb.Env(environ.Plain(os.Environ()), test.proof), Stdout: &said, Stderr: &said,
					})
					if err != nil || res.Exit != 0 {
						t.Errorf("exit %d, %v: %s", res.Exit, err, said.String())
					}
				})
			}
		})
	}
}

// project writes the files. The module that Go needs is one of ralph's.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, file := range txtar.Parse([]byte(shop)).Files {
		put(t, filepath.Join(dir, file.Name), strings.ReplaceAll(string(file.Data), "VERSION", moduleVersion(t)))
	}
	sums, err := os.ReadFile("../../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "go.sum"), string(sums))
	return dir
}

func moduleVersion(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "github.com/google/go-cmp ")
	return strings.Fields(after)[0]
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
