package tamper

import "strings"

// pythonForces are unittest's assertions, mock's and numpy's. What begins with
// assert and is not here counts as sized.
var pythonForces = map[string]force{
	"assertEqual": exact, "assertEquals": exact, "assertListEqual": exact, "assertDictEqual": exact, "assertSetEqual": exact, "assertTupleEqual": exact,
	"assertSequenceEqual": exact, "assertMultiLineEqual": exact, "assertCountEqual": exact, "assertAlmostEqual": exact, "assertIs": exact, "assertJSONEqual": exact,
	"assertQuerysetEqual": exact, "assertQuerySetEqual": exact, "assertHTMLEqual": exact, "assertRedirects": exact, "assertNumQueries": exact, "assertTemplateUsed": partly,
	"assert_equal": exact, "assert_allclose": exact, "assert_array_equal": exact, "assert_almost_equal": exact, "assert_frame_equal": exact, "assert_series_equal": exact,
	"assert_called_with": exact, "assert_called_once_with": exact, "assert_has_calls": exact, "assert_any_call": partly, "assert_awaited_once_with": exact, "assert_awaited_with": exact,
	"assert_called_once": partly, "assert_awaited_once": partly, "assert_not_called": exact, "assert_called": presence, "assert_awaited": presence,
	"assertIn": partly, "assertNotIn": partly, "assertGreater": partly, "assertGreaterEqual": partly, "assertLess": partly, "assertLessEqual": partly,
	"assertRegex": partly, "assertNotRegex": partly, "assertNotEqual": partly, "assertDictContainsSubset": partly, "assertContains": partly, "assertNotContains": partly,
	"assertIsInstance": flag, "assertTrue": presence, "assertFalse": presence, "assertIsNone": exact, "assertIsNotNone": presence, "assertNotIsInstance": presence,
	"assertRaises": partly, "assertRaisesRegex": sized, "assertWarns": partly, "assertWarnsRegex": sized, "assertLogs": partly, "raises": partly, "warns": partly, "fail": partly,
	"assert_raises": partly, "assertIsNot": presence, "assertNoLogs": partly, "assertRaisesMessage": sized,
}

// calls looks for assertions, skips and helpers in a statement.
func (b *snakeBody) calls(words []word, st *statement, dead string) {
	match := brackets(words)
	for i, w := range words {
		if w.kind != name || i+1 >= len(words) || !words[i+1].is("(") || match[i+1] < 0 {
			continue
		}
		receiver := ""
		if i > 1 && words[i-1].is(".") {
			receiver = words[i-2].text
		}
		whole := words[start(words, i) : match[i+1]+1]
		args := list(words[i+2 : match[i+1]])
		switch {
		case skipping(w.text, receiver):
			b.test.skips = append(b.test.skips, mark{st.line, spoken(whole)})
		case asserted(w.text, receiver):
			made := pythonAssertion(w.text, args, whole)
			made.line, made.end, made.dead = w.line, max(st.words[len(st.words)-1].line, w.line), dead
			b.put(made)
		case receiver == "" || receiver == "self" || receiver == "cls":
			b.test.calls = append(b.test.calls, call{w.text, w.line, whole})
		}
	}
}

// start is where the chain begins that the word at i ends.
func start(words []word, i int) int {
	for i > 1 && words[i-1].is(".") && words[i-2].kind == name {
		i -= 2
	}
	return i
}

func skipping(called, receiver string) bool {
	switch called {
	case "skip", "xfail", "importorskip":
		return receiver == "pytest"
	case "skipTest":
		return true
	default:
		return false
	}
}

func asserted(called, receiver string) bool {
	if called == "raises" || called == "warns" || called == "fail" {
		return receiver == "pytest" || receiver == "self"
	}
	_, known := pythonForces[called]
	return known || receiver == "self" && strings.HasPrefix(called, "assert") && called != "assert_" && len(called) > 6 && called[6] != '_'
}

// opaque tells whether a function that is not in view asserts, by its name.
func opaque(called string, in language) bool {
	if in == golang {
		return true // it was given the *testing.T
	}
	low := strings.ToLower(strings.TrimLeft(called, "_"))
	for _, word := range []string{"assert", "check", "verify", "expect", "ensure", "should"} {
		if strings.HasPrefix(low, word) {
			return true
		}
	}
	return false
}

func pythonAssertion(called string, args [][]word, words []word) check {
	c := check{force: sized, words: words, subject: words, what: called}
	c.none = called == "assertFalse" || strings.HasPrefix(called, "assertNot")
	if f, known := pythonForces[called]; known {
		c.force = f
	}
	args, named := keywords(args)
	switch {
	case called == "raises" || called == "warns" || strings.HasPrefix(called, "assertRaises") || called == "assert_raises":
		return raised(c, args, named)
	case mocked(called):
		c.expected = joinedArgs(args)
		for i, w := range words {
			if w.is(called) {
				c.subject = words[:i]
			}
		}
		return c
	case len(args) > 0:
		c.told(called, args)
	}
	c.slack = leeway(called, args, named)
	return c
}

func mocked(called string) bool {
	for _, begins := range []string{"assert_called", "assert_awaited", "assert_any", "assert_has"} {
		if strings.HasPrefix(called, begins) {
			return true
		}
	}
	return false
}

// told reads what an assertion of unittest is about.
func (c *check) told(called string, args [][]word) {
	switch {
	case called == "assertTrue":
		c.force, c.subject, c.expected = pythonForce(args[0])
		if c.force == flag {
			c.force = presence
		}
	case called == "assertFalse":
		c.subject = args[0]
		if fixed(args[0]) {
			c.force = vain
		}
	case (c.force == exact || c.force == partly) && len(args) >= 2:
		was := c.force
		c.force, c.subject, c.expected = equality(args[0], args[1])
		if c.force > sized || was == partly && c.force != vain {
			c.force = was
		}
		if c.force == flag {
			c.force = presence
		}
	case called == "assertIsNone":
		c.subject, c.expected = args[0], []word{{name, "None", args[0][0].line}}
	case c.force == presence && fixed(args[0]):
		c.force = vain
	default:
		c.subject = args[0]
	}
}

// leeway is how far off a number may be.
func leeway(called string, args [][]word, named map[string][]word) float64 {
	for _, key := range []string{"delta", "atol", "rtol"} {
		if words, given := named[key]; given {
			return value(words)
		}
	}
	if called == "assertAlmostEqual" || called == "assert_almost_equal" {
		places := named["places"]
		if len(args) > 2 {
			places = args[2]
		}
		if places == nil {
			return 1e-7
		}
		return power(-value(places))
	}
	return 0
}

func keywords(args [][]word) (plain [][]word, named map[string][]word) {
	named = map[string][]word{}
	for _, arg := range args {
		if len(arg) > 2 && arg[1].is("=") {
			named[arg[0].text] = arg[2:]
			continue
		}
		plain = append(plain, arg)
	}
	return plain, named
}

// raised is about an exception: which one counts, and what it says.
func raised(c check, args [][]word, named map[string][]word) check {
	c.force = partly
	if len(args) > 0 {
		c.subject = args[0]
		if all := joined(args[0]); all == "Exception" || all == "BaseException" {
			c.force = presence
		}
	}
	message := named["match"]
	if c.what == "assertRaisesRegex" && len(args) > 1 {
		message = args[1]
	}
	if message != nil {
		c.force += 5
		if len(message) == 1 && (message[0].text == "" || message[0].text == ".*" || message[0].text == ".+") {
			c.force -= 5
		}
	}
	return c
}
