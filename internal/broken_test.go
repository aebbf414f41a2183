package internal_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// hut is a house of one package or two a layer; sound is code that fits it.
var hut = house{
	module: "hut",
	layers: [][]string{{"word"}, {"rule", "law", "tool"}, {"hand", "hand/back", "double"}, {"engine", "desk"}, {"street"}},
	pure:   2,
	tools:  []string{"tool"},
	shut:   map[string]int{"engine": 2},
	keepers: map[string][]string{
		"hut/double":        {"street"},
		"net":               {"hand"},
		"net/http":          {"double"},
		"net/url":           anyone,
		"os":                {"hand", "law"},
		"os/exec":           {"tool"},
		"unsafe":            {},
		"example.org/parse": {"hand"},
	},
}

var sound = map[string]string{
	"word/word.go":     `package word; import "net/url"; var U url.URL`,
	"rule/rule.go":     `package rule; import ("hut/word"; "time"); var U = word.U; const Long = time.Hour`,
	"law/law.go":       `package law`,
	"tool/tool.go":     `package tool; import ("os/exec"; "time"); func Run(c *exec.Cmd) { go c.Wait(); time.Sleep(1) }`,
	"hand/hand.go":     `package hand; import ("net"; "example.org/parse/v2"; "hut/tool"); var _, _, _ = net.Dial, parse.It, tool.Run`,
	"hand/back.go":     `package hand; import "hut/hand/back"; var Back = back.It`,
	"hand/back/it.go":  `package back; var It int`,
	"double/double.go": `package double; import "net/http"; var Client http.Client`,
	"engine/engine.go": `package engine; import "hut/tool"; var Run = tool.Run`,
	"desk/desk.go":     `package desk; import "hut/hand"; var It = hand.It`,
	"street/main.go":   `package main; import ("hut/double"; "hut/hand"); func main() { _, _ = double.Client, hand.It }`,
}

func TestRulesOfLayers(t *testing.T) {
	tests := []struct {
		name string
		code map[string]string // laid over sound; an empty text removes the file
		want []string
	}{
		{"correct code has no findings", nil, nil},
		{
			"a package imports no higher layer",
			map[string]string{"word/up.go": "package word\n\nimport _ \"hut/rule\""},
			[]string{"word/up.go:3: word may not import hut/rule: it is above: layer 1, from layer 0"},
		},
		{
			"a package imports no other package of its layer",
			map[string]string{"rule/side.go": `package rule; import _ "hut/law"`},
			[]string{"rule/side.go:1: rule may not import hut/law: it is in the same layer"},
		},
		{
			"a sub-package is for its parent alone, and does not import it",
			map[string]string{
				"double/steal.go":  `package double; import _ "hut/hand/back"`,
				"hand/back/out.go": `package back; import _ "hut/hand"`,
			},
			[]string{
				"double/steal.go:1: double may not import hut/hand/back: it is in the same layer",
				"hand/back/out.go:1: hand/back may not import hut/hand: it is in the same layer",
			},
		},
		{
			"every folder of code has a layer",
			map[string]string{"attic/box.go": `package attic`, "main.go": `package hut`},
			[]string{
				"attic/box.go: package attic is in no layer; give it one in internal/layers_test.go",
				"main.go: package . is in no layer; give it one in internal/layers_test.go",
			},
		},
		{
			"a folder without a layer cannot be imported",
			map[string]string{"street/main.go": `package main; import (_ "hut/cellar"; _ "hut")`},
			[]string{
				"street/main.go:1: street may not import hut/cellar: it is on no layer",
				"street/main.go:1: street may not import hut: it is on no layer",
			},
		},
		{
			"a planned package needs code, and tests do not count",
			map[string]string{"law/law.go": "", "law/law_test.go": `package law_test`},
			[]string{"package law is in the plan and has no code"},
		},
		{
			"a restricted import is for its owners; the longest path decides",
			map[string]string{"hand/run.go": `package hand; import (_ "os"; _ "os/user"; _ "os/exec"; _ "net/http/cgi"; _ "unsafe")`},
			[]string{
				"hand/run.go:1: hand may not import os/exec: only tool may",
				"hand/run.go:1: hand may not import net/http/cgi: only double may",
				"hand/run.go:1: hand may not import unsafe: only tests may",
			},
		},
		{
			"a module of others needs an owner",
			map[string]string{"hand/more.go": `package hand; import (_ "example.org/parse/deep"; _ "example.org/other")`},
			[]string{"hand/more.go:1: hand may not import example.org/other: it has no owner; name its owner in internal/layers_test.go"},
		},
		{
			"a package of this module can have owners too",
			map[string]string{"desk/twin.go": `package desk; import _ "hut/double"`},
			[]string{"desk/twin.go:1: desk may not import hut/double: only street may"},
		},
		{
			"a layer can be closed to a package above it",
			map[string]string{"engine/hand.go": `package engine; import _ "hut/hand"`},
			[]string{"engine/hand.go:1: engine may not import hut/hand: layer 2 is closed to it"},
		},
		{
			"a rule starts no goroutine",
			map[string]string{"rule/go.go": "package rule\n\nfunc f() {\n\tgo f()\n}"},
			[]string{"rule/go.go:4: rule is pure, and this starts a goroutine"},
		},
		{
			"a rule reads no clock under any name",
			map[string]string{"rule/now.go": `package rule; import clock "time"; var t = clock.Now; var d clock.Duration`},
			[]string{"rule/now.go:1: rule is pure, and this uses time.Now"},
		},
		{
			"a rule hides no clock behind a dot",
			map[string]string{"rule/dot.go": `package rule; import . "time"; var t = Now`},
			[]string{"rule/dot.go:1: rule is pure, and this hides whose names are used"},
		},
		{
			"a rule touches no machine, even where it is named a keeper",
			map[string]string{"law/os.go": `package law; import ("os"; "path/filepath"); var _, _ = filepath.Join, filepath.Glob`},
			[]string{
				"law/os.go:1: law is pure, and this imports os",
				"law/os.go:1: law is pure, and this uses path/filepath.Glob",
			},
		},
		{
			"tests, test data and folders of other tools are not read",
			map[string]string{
				"rule/rule_test.go":         `package rule; import _ "os/exec"`,
				"rule/testdata/bad.go":      `package bad; import _ "os/exec"`,
				"tools/node_modules/x/x.go": `package x`,
				".cache/y.go":               `not even Go`,
			},
			nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := hut.inspect(laidOver(sound, tt.code))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("complaints (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKeeperLivesInTheHouse(t *testing.T) {
	haunted := hut
	haunted.keepers = map[string][]string{"os": {"ghost", "hand"}}
	want := "ghost, an owner of os, is on no layer"
	if got := strings.Join(haunted.strangers(), "\n"); got != want {
		t.Errorf("strangers = %q, want %q", got, want)
	}
}

func TestBrokenCodeIsAnError(t *testing.T) {
	if _, err := hut.inspect(laidOver(sound, map[string]string{"law/law.go": "package"})); err == nil {
		t.Error("inspect took a file that is no Go")
	}
}

func laidOver(base, code map[string]string) fstest.MapFS {
	tree := fstest.MapFS{}
	for name, text := range base {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for name, text := range code {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
		if text == "" {
			delete(tree, name)
		}
	}
	return tree
}
