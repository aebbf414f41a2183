package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ralph-loop/ralph/internal/entry/config"
)

// shownSettings finds the settings file that a comment shows.
var shownSettings = regexp.MustCompile(`# (\{.*\})`)

// GitHub and ralph take every example as it stands, with the settings that it shows.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.yml")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d examples: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text := readFile(t, file)
			snippet{page: file, language: "yaml", code: text}.try(t)
			if settings := shownSettings.FindStringSubmatch(text); settings != nil {
				snippet{page: file, language: "json", code: settings[1]}.try(t)
			}
		})
	}
}

// workflowInputs FILE sets the inputs that a workflow gives ralph's step.
func workflowInputs(ts *testscript.TestScript, _ bool, args []string) {
	text, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	given, err := config.InputsOfWorkflow(text)
	ts.Check(err)
	delete(given, "ralph") // says where the program comes from
	for name, value := range given {
		ts.Setenv("INPUT_"+strings.ToUpper(name), value)
	}
}
