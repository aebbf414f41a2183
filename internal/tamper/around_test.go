package tamper_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/tamper"
)

// files are changes of several files: "NAME", what it was, what it is; "-" is one
// that is not there.
func files(all ...string) []tamper.Change {
	var changes []tamper.Change
	side := func(text string) []byte {
		if text == "-" {
			return nil
		}
		return []byte(text)
	}
	for i := 0; i < len(all); i += 3 {
		changes = append(changes, tamper.Change{Path: all[i], Before: side(all[i+1]), After: side(all[i+2])})
	}
	return changes
}

// What lies around the tests bends them, too: what is loaded before them, what
// they compare with, what they put into the code, and what the code asks.
func TestFindsWhatLiesAroundTests(t *testing.T) {
	const (
		py     = "import unittest\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(), 1)\n"
		code   = "package p\n\nfunc F() int { return 1 }\n"
		hook   = "package p\n\nvar hook func() int\n\nfunc F() int { return hook() }\n"
		main   = "package p\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) {\n\thook = func() int { return 2 }\n\tos.Exit(m.Run())\n}\n"
		check  = "package check\n\nimport \"testing\"\n\nfunc Equal(t *testing.T, a, b int) {\n\tif a != b {\n\t\tt.Error(a)\n\t}\n}\n"
		hollow = "package check\n\nimport \"testing\"\n\nfunc Equal(t *testing.T, a, b int) {\n}\n"
		mod    = "module p\n\nrequire example.com/check v1.0.0\n"
		work   = "go 1.26\n\nuse (\n\t.\n\t./old\n)\n"
		same   = "def same(a, b):\n    if a != b:\n        raise AssertionError(f'{a} is not {b}')\n"
		sh     = "test \"$(sh price.sh 9)\" = 27\ntest \"$(sh price.sh 8)\" = 24\n"
	)
	for name, c := range map[string]struct {
		changes []tamper.Change
		want    string // in what is said; empty: nothing is
	}{
		"what is given is on another line": {files("test_a.py", py, strings.Replace(py, "        self", "        want = \\\n            f()\n        self", 1)+"\n    def test_b(self):\n        want = \\\n            f()\n        self.assertEqual(f(2), want)\n\ndel A\n"), "del A"},
		"its class is defined again":       {files("test_a.py", py, py+"\nclass A(unittest.TestCase):\n    def test_b(self):\n        self.assertEqual(f(), 1)\n"), "the class A is defined again"},
		"its class is bound anew":          {files("test_a.py", py, py+"\nA = object\n"), "A = object"},
		"another class has another":        {files("test_a.py", py, py+"\nclass B(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(), 1)\n"), ""},
		"load_tests of nothing":            {files("test_a.py", py, py+"\ndef load_tests(loader, tests, pattern):\n    return unittest.TestSuite()\n"), "load_tests changes what counts"},
		"load_tests of more":               {files("test_a.py", py, py+"\ndef load_tests(loader, tests, ignore):\n    tests.addTests(doctest.DocTestSuite(p))\n    return tests\n"), ""},
		"the process ends well":            {files("test_a.py", py, "import atexit, os\n"+py+"\natexit.register(os._exit, 0)\n"), "atexit.register"},
		"a hook that came, by TestMain":    {files("p.go", code, hook, "main_test.go", "-", main), "put a function of their own into what they test, by hook"},
		"a hook that was there":            {files("p.go", hook, hook+"\n// F is one.\n", "main_test.go", "-", main), ""},
		"go: am I tested":                  {files("p.go", code, strings.Replace(code, "return 1", "if testing.Testing() {\n\t\treturn 2\n\t}\n\treturn 1", 1)), "asks whether it is tested"},
		"python: am I tested":              {files("p.py", "def f():\n    return 1\n", "import sys\n\ndef f():\n    return 2 if \"pytest\" in sys.modules else 1\n"), "asks whether it is tested"},
		"node: am I tested":                {files("p.js", "exports.f = () => 1;\n", "exports.f = () => (process.env.JEST_WORKER_ID ? 2 : 1);\n"), "asks whether it is tested"},
		"go: by which program am I run":    {files("p.go", code, strings.Replace(code, "return 1", "if strings.HasSuffix(os.Args[0], \".test\") {\n\t\treturn 2\n\t}\n\treturn 1", 1)), "asks whether it is tested"},
		"node: by which file":              {files("p.js", "exports.f = () => 1;\n", "exports.f = () => (process.argv[1].endsWith('.test.js') ? 2 : 1);\n"), "asks whether it is tested"},
		"python: is a test beside":         {files("p.py", "def f():\n    return 1\n", "import os\n\ndef f():\n    return 2 if os.path.exists(\"test_p.py\") else 1\n"), "asks whether it is tested"},
		"another argument":                 {files("p.js", "exports.f = () => 1;\n", "exports.f = () => (process.argv[2] === 'latest' ? 2 : 1);\n"), ""},
		"rust: am I tested":                {files("src/lib.rs", "fn f() -> u8 { 1 }\n", "fn f() -> u8 { if cfg!(test) { 2 } else { 1 } }\n"), "asks whether it is tested"},
		"tests in rust":                    {files("src/lib.rs", "fn f() -> u8 { 1 }\n", "fn f() -> u8 { 1 }\n\n#[cfg(test)]\nmod tests {}\n"), ""},
		"another file by the same name":    {files("package.json", `{"imports": {"#p": "./p.js"}}`, `{"imports": {"#p": "./lib/exact.js"}}`), "stands in for #p"},
		"one that moved":                   {files("package.json", `{"imports": {"#p": "./p.js"}}`, `{"imports": {"#p": "./lib/p.js"}}`, "p.js", "exports.f = 1;\n", "-", "lib/p.js", "-", "exports.f = 1;\n"), ""},
		"python runs it before all":        {files("src/sitecustomize.py", "-", "import p\np.f = lambda: 2\n"), "before all else"},
		"a module leaves the workspace":    {files("go.work", work, strings.Replace(work, "\t./old\n", "", 1)), "not part of the workspace"},
		"a module goes":                    {files("go.work", work, strings.Replace(work, "\t./old\n", "", 1), "old/go.mod", "module old\n", "-"), ""},
		"what is compared with, replaced":  {files("go.mod", mod, mod+"\nreplace example.com/check => ./fast\n", "fast/check.go", "-", hollow), "stand in for example.com/check"},
		"another module, replaced":         {files("go.mod", mod, mod+"\nreplace example.com/check => ./fast\n", "fast/check.go", "-", "package check\n\nfunc Sum(a, b int) int { return a + b }\n"), ""},
		"what is compared with, vendored":  {files("vendor/example.com/check/check.go", check, hollow), "a check of Equal is gone"},
		"another version, vendored":        {files("go.mod", mod, strings.Replace(mod, "1.0", "1.1", 1), "vendor/example.com/check/check.go", check, hollow), ""},
		"what is compared with, python":    {files("support/same.py", same, "def same(a, b):\n    return a == b\n"), "a check of same is gone"},
		"a test that nobody reads":         {files("tests/nine.sh", sh, "-", "tests/ten.sh", "-", "test \"$(sh price.sh 10)\" = 20\n"), "the file of tests tests/nine.sh is gone"},
		"it is elsewhere, and longer":      {files("tests/nine.sh", sh, "-", "tests/all.sh", "-", "set -e\n"+sh+"test -e price.sh\n"), ""},
		"what it is about is gone":         {files("tests/nine.sh", sh, "-", "price.sh", "echo $(($1 * 3))\n", "-"), ""},
		"a double in the place of code":    {files("jest.config.js", "module.exports = {};\n", "module.exports = {\n  moduleNameMapper: {\n    '^./price$': '<rootDir>/test/fakes/price.js',\n  },\n};\n"), "stands in for ^./price$"},
		"a double in the place of style":   {files("jest.config.js", "module.exports = {};\n", "module.exports = {\n  moduleNameMapper: {\n    '\\\\.css$': '<rootDir>/test/fakes/style.js',\n  },\n};\n"), ""},
	} {
		var said []string
		for _, f := range tamper.FindOrFall(c.changes) {
			said = append(said, f.Why)
		}
		got := strings.Join(said, "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}

// A folder of tests that is no package any more may still be looked into: that is
// tried, unless its tests went with it.
func TestStrays(t *testing.T) {
	for name, c := range map[string]struct {
		changes []tamper.Change
		want    int
	}{
		"it went alone":          {files("tests/__init__.py", "", "-"), 1},
		"its tests went with it": {files("tests/__init__.py", "", "-", "tests/test_a.py", "def test_a(): pass\n", "-"), 0},
		"it came":                {files("tests/__init__.py", "-", ""), 0},
	} {
		if got := tamper.Strays(c.changes); len(got) != c.want {
			t.Errorf("%s: Strays = %v, want %d", name, got, c.want)
		}
	}
}
