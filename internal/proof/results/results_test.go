package results_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/proof/results"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The output of go test has subtests, a package that does not build, a panic, and lines that are no event.
func TestGoTest(t *testing.T) {
	var text strings.Builder
	found, err := results.ReadGoTest(iotest.OneByteReader(bytes.NewReader(read(t, "go.json"))), &text)
	if err != nil {
		t.Fatal(err)
	}
	want := "passed m.TestA/one\npassed m.TestB\nfailed m.TestA\nfailed m.TestA/two\nfailed m/boom.TestP\nskipped m.TestS\nbroken m/bad\n"
	if diff := cmp.Diff(want, found.String()); diff != "" || found.Cut {
		t.Errorf("tests (-want +got):\n%s", diff)
	}
	for _, line := range []string{
		"go: downloading example.com/a v1.0.0\n", "bad/a_test.go:3:27: undefined: undefined\n", "    a_test.go:3: no\n", "panic: x [recovered, repanicked]\n", "FAIL\tm/bad [build failed]\n",
	} {
		if !strings.Contains(text.String(), line) {
			t.Errorf("the text has no %q:\n%s", line, text.String())
		}
	}
	if strings.Contains(text.String(), `"Action"`) {
		t.Errorf("the text has events:\n%s", text.String())
	}
}

// A command that begins with go test may print anything.
func TestOddOutputOfGoTest(t *testing.T) {
	for name, output := range map[string]string{
		"nothing":         "",
		"no event":        "ok\n{}\n{\"Action\":\n",
		"an endless line": strings.Repeat("x", 2<<20) + "\nend",
		"an odd action":   `{"Action":"dance","Package":"p","Test":"T"}` + "\n",
	} {
		var text strings.Builder
		found, err := results.ReadGoTest(strings.NewReader(output), &text)
		if err != nil || found.Len() > 0 {
			t.Errorf("%s: tests %s, %v", name, found, err)
		}
		if strings.HasSuffix(output, "end") && !strings.HasSuffix(strings.TrimSpace(text.String()), "end") {
			t.Errorf("%s: the text ends with %q", name, text.String()[max(0, text.Len()-20):])
		}
	}
}

// A text that cannot be written is an error.
func TestGoTestOnAFullDisk(t *testing.T) {
	full := errors.New("no space left")
	from, to := io.Pipe()
	if err := from.CloseWithError(full); err != nil {
		t.Fatal(err)
	}
	if _, err := results.ReadGoTest(bytes.NewReader(read(t, "go.json")), to); !errors.Is(err, full) {
		t.Errorf("ReadGoTest = %v, want %v", err, full)
	}
}

// Each runner writes JUnit XML in its own way.
func TestJUnit(t *testing.T) {
	for name, want := range map[string]string{
		"node.xml":         "passed adds\npassed cart > deep > x\npassed cart > removes\nfailed fails\nskipped later\n",
		"pytest.xml":       "passed test_a.TestB.test_c\npassed test_a.test_n[1]\nfailed test_a.test_n[2]\nskipped test_a.TestB.test_d\nbroken test_bad\n",
		"surefire.xml":     "passed shop.CartTest.adds\nfailed shop.CartTest.breaks\nfailed shop.CartTest.removes\nskipped shop.CartTest.later\n",
		"vitest.xml":       "passed src/cart.test.ts > cart > adds\nfailed src/cart.test.ts > cart > removes\n",
		"nextest.xml":      "passed shop::cart.tests::adds\nfailed shop::cart.tests::removes\n",
		"empty-suites.xml": "",
	} {
		var found results.Results
		if err := found.AddJUnit(read(t, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, found.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name, text := range map[string]string{"no XML": "<testsuite><testcase", "an entity": `<!DOCTYPE a [<!ENTITY b "c">]><testsuite><testcase name="&b;"/></testsuite>`} {
		var found results.Results
		if err := found.AddJUnit([]byte(text)); err == nil {
			t.Errorf("%s is read: %s", name, found)
		}
	}
}

// Of a name that occurs twice, the worse outcome counts. What String writes, Parse reads.
func TestAdd(t *testing.T) {
	var found results.Results
	for _, add := range []struct {
		name    string
		outcome results.Outcome
	}{
		{"a", results.Failed},
		{"a", results.Passed},
		{"b", results.Skipped},
		{"b", results.Passed},
		{"c", results.Broken},
		{"c", results.Failed},
		{" two\n lines ", results.Passed},
		{strings.Repeat("é", 600), results.Passed},
		{"", results.Failed},
		{"bad \xff", results.Passed},
	} {
		found.Add(add.name, add.outcome)
	}
	want := fmt.Sprintf("passed b\npassed bad \uFFFD\npassed two lines\npassed %s\nfailed a\nbroken c\n", strings.Repeat("é", 500))
	if diff := cmp.Diff(want, found.String()); diff != "" {
		t.Errorf("tests (-want +got):\n%s", diff)
	}
	again := results.Parse(found.String() + "danced d\nno outcome\n\n")
	if diff := cmp.Diff(found.String(), again.String()); diff != "" {
		t.Errorf("read again (-want +got):\n%s", diff)
	}
	if again.Of("a") != results.Failed || again.Of("d") != results.Absent || again.Len() != 6 {
		t.Errorf("a %s, d %s, %d tests", again.Of("a"), again.Of("d"), again.Len())
	}
	if names := again.Names(results.Failed, results.Broken); !cmp.Equal(names, []string{"a", "c"}) {
		t.Errorf("failures %q", names)
	}
}

// Hostile reports need bounded memory.
func TestManyTests(t *testing.T) {
	var found results.Results
	for i := range 100_001 {
		found.Add(fmt.Sprint(i), results.Passed)
	}
	if found.Len() != 100_000 || !found.Cut {
		t.Errorf("%d tests, cut %v", found.Len(), found.Cut)
	}
}

func TestFunction(t *testing.T) {
	for name, want := range map[string]string{
		"example.com/shop.TestA":           "example.com/shop.TestA",
		"example.com/shop.TestA/one/two":   "example.com/shop.TestA",
		"example.com/shop.FuzzA/seed#0":    "example.com/shop.FuzzA",
		"example.com/shop.ExampleCart":     "example.com/shop.ExampleCart",
		"test_a.test_n[1-x]":               "test_a.test_n",
		"test_a.test_n[a/b]":               "test_a.test_n",
		"src/[id]/a.test.ts > adds":        "src/[id]/a.test.ts > adds",
		"src/[id]/a.test.ts > adds [1]":    "src/[id]/a.test.ts > adds ",
		"cart > adds [1]":                  "cart > adds ",
		"[1] adds":                         "[1] adds",
		"src/cart.test.ts > cart > adds":   "src/cart.test.ts > cart > adds",
		"shop.CartTest.adds":               "shop.CartTest.adds",
		"src/a.test.ts > path /a/b [more]": "src/a.test.ts > path /a/b ",
	} {
		if got := results.Function(name); got != want {
			t.Errorf("Function(%q) = %q, want %q", name, got, want)
		}
	}
}
