package tamper_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/tamper"
)

// Of what nobody here reads a line that is gone is doubted, unless one that came
// is much like it, or it speaks of what is no more. So is what tests may compare
// by, and a test that asks for something else by its old name.
func TestDoubtsOfLines(t *testing.T) {
	const (
		shell = "test \"$(sh price.sh 1)\" = 3\ntest \"$(sh price.sh 9)\" = 27\n"
		same  = "exports.same = (got, want) => {\n  if (got !== want) throw new Error(got);\n};\n"
		goOf  = "package p\n\nimport \"testing\"\n\nfunc TestNine(t *testing.T) {\n\tif got := Of(9); got != 27 {\n\t\tt.Errorf(\"Of = %d\", got)\n\t}\n}\n"
	)
	product := file("price.sh", "echo $(($1 * 3))\n", "echo $(($1 * 2))\n")
	for name, c := range map[string]struct {
		changes []tamper.Change
		want    []string
	}{
		"a line of a script":        {[]tamper.Change{file("tests/all.sh", shell, strings.NewReplacer("9", "10", "27", "20").Replace(shell))}, []string{"tests/all.sh assertion_removed"}},
		"another result":            {[]tamper.Change{file("tests/all.sh", shell, strings.Replace(shell, "27", "18", 1))}, nil},
		"another name":              {[]tamper.Change{file("tests/all.sh", shell, strings.ReplaceAll(shell, "price.sh", "cost.sh"))}, nil},
		"it moved":                  {[]tamper.Change{file("tests/all.sh", shell, "set -e\n"), file("tests/new.sh", "-", shell)}, nil},
		"a row":                     {[]tamper.Change{product, file("tests/cases.csv", "1,3\n9,27\n", "1,3\n10,20\n")}, []string{"tests/cases.csv assertion_removed"}},
		"a name on a list":          {[]tamper.Change{product, file("tests/LIST", "one.sh\nnine.sh\n", "one.sh\nten.sh\n")}, []string{"tests/LIST assertion_removed"}},
		"of a file that is no more": {[]tamper.Change{file("nine.sh", "x\n", "-"), file("tests/LIST", "one.sh\nnine.sh\n", "one.sh\n")}, nil},
		"a remark":                  {[]tamper.Change{product, file("tests/all.sh", "# all of them\n"+shell, shell)}, nil},
		"what comes out":            {[]tamper.Change{product, file("tests/nine.out", "9 for 27\n", "10 for 20\n")}, nil},
		"with what is put in":       {[]tamper.Change{product, file("tests/nine.out", "27\n", "24\n"), file("tests/nine.in", "9\n", "8\n")}, []string{"tests/nine.in assertion_removed"}},
		"a file of a case":          {[]tamper.Change{product, file("tests/nine.in", "9\n", "-")}, []string{"tests/nine.in test_deleted"}},
		"one that moved":            {[]tamper.Change{product, file("tests/nine.in", "9\n", "-"), file("tests/data/nine.in", "-", "9\n")}, nil},
		"what was dropped":          {[]tamper.Change{file("price.sh", "--version) echo 1 ;;\n", "x\n"), file("tests/all.sh", "sh price.sh --version\n"+shell, shell)}, nil},
		"how things are compared":   {[]tamper.Change{file("lib/same.js", same, strings.Replace(same, "want)", "want && want !== 27)", 1))}, []string{"lib/same.js assertion_weakened"}},
		"what tests run on":         {[]tamper.Change{file("shop/testing.py", "def priced(n):\n    return price(n)\n", "def priced(n):\n    return 27\n")}, []string{"shop/testing.py assertion_weakened"}},
		"an example of a page":      {[]tamper.Change{file("README.md", ">>> price(9)\n27\n", ">>> price(10)\n20\n")}, []string{"README.md assertion_weakened"}},
		"a page":                    {[]tamper.Change{file("README.md", "Nine cost 27.\n", "Ten cost 20.\n")}, nil},
		"another question":          {[]tamper.Change{file("p.go", "package p\n\nfunc Of(n int) int { return n * 3 }\n", "package p\n\nfunc Of(n int) int { return n * 2 }\n"), file("p_test.go", goOf, strings.NewReplacer("Of(9)", "Of(10)", "27", "20").Replace(goOf))}, []string{"p_test.go assertion_removed"}},
	} {
		var got []string
		for _, f := range tamper.Doubts(c.changes) {
			got = append(got, f.File+" "+string(f.Kind))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
