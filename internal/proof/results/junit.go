package results

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/joshdk/go-junit"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// AddJUnit adds the tests of a JUnit XML file.
func (r *Results) AddJUnit(data []byte) error {
	// The library skips a test that stands outside of a suite, as node writes them.
	data = bytes.ReplaceAll(data, []byte("<testsuites"), []byte("<testsuite"))
	data = bytes.ReplaceAll(data, []byte("</testsuites"), []byte("</testsuite"))
	suites, err := junit.Ingest(data)
	if err != nil {
		return fmt.Errorf("read a JUnit report: %w", err)
	}
	r.addSuites(nil, suites)
	return nil
}

// outcomes are those of JUnit.
var outcomes = map[junit.Status]Outcome{
	junit.StatusPassed:  Passed,
	junit.StatusSkipped: Skipped,
	junit.StatusFailed:  Failed,
	junit.StatusError:   Failed,
}

func (r *Results) addSuites(outer []string, suites []junit.Suite) {
	for _, suite := range suites {
		groups := outer
		if suite.Name != "" {
			groups = append(slices.Clone(outer), suite.Name)
		}
		for _, test := range suite.Tests {
			outcome := outcomes[test.Status]
			if outcome == Failed && isFile(test) {
				outcome = Broken
			}
			r.Add(junitName(groups, test), outcome)
		}
		r.addSuites(groups, suite.Suites)
	}
}

// isFile reports whether a failure is that of a file that pytest, node or vitest could not load.
func isFile(test junit.Test) bool {
	if test.Status == junit.StatusError && strings.Contains(test.Message, "collection") {
		return true
	}
	isNamedAsFile := test.Classname == "test" || test.Classname == test.Name
	return isNamedAsFile && jsFile.MatchString(test.Name)
}

var jsFile = pattern.Of(`\.[cm]?[jt]sx?$`)

// junitName returns the name of a test with its class or file, or with its groups: node gives no class.
func junitName(groups []string, test junit.Test) string {
	class := test.Classname
	if class == "test" {
		return strings.Join(append(slices.Clone(groups), test.Name), " > ")
	}
	if class == test.Name { // a file that vitest could not load
		return class
	}
	if class == "" || test.Name == "" {
		return class + test.Name
	}
	if strings.ContainsAny(class, " /") {
		return class + " > " + test.Name
	}
	return class + "." + test.Name
}
