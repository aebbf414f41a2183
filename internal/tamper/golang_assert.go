package tamper

import "strings"

// receivers are what assertions are called on, in the libraries that people
// use.
var receivers = set("assert require is a r s suite c check qt must assertions ast req td ts")

func asserting(on, called string) bool {
	if strings.Contains(on, "Expect (") || strings.Contains(on, "Ω (") || strings.Contains(on, "Eventually (") || strings.Contains(on, "Consistently (") {
		return called == "To" || called == "ToNot" || called == "NotTo" || called == "Should" || called == "ShouldNot"
	}
	if !receivers[on] && !strings.HasSuffix(on, "Require ( )") && !strings.HasSuffix(on, "Assert ( )") {
		return false
	}
	_, known := goForces[strings.TrimSuffix(called, "f")]
	return known || called == "Assert" || called == "Check"
}

// goForces are testify's assertions and their likes.
var goForces = map[string]force{
	"Equal": exact, "EqualValues": exact, "Exactly": exact, "JSONEq": exact, "YAMLEq": exact, "ErrorIs": exact, "EqualError": exact, "Same": exact,
	"ElementsMatch": exact, "DeepEqual": exact, "EqualExportedValues": exact, "WithinDuration": exact, "InDelta": exact, "InEpsilon": exact, "InDeltaSlice": exact,
	"PanicsWithValue": exact, "PanicsWithError": exact, "Cmp": exact, "Golden": exact,
	"Len": sized, "Empty": sized,
	"Contains": partly, "NotContains": partly, "Subset": partly, "Regexp": partly, "NotRegexp": partly, "Greater": partly, "GreaterOrEqual": partly, "Less": partly,
	"LessOrEqual": partly, "ErrorContains": partly, "ErrorAs": partly, "ErrorType": partly, "NotEqual": partly, "IsType": partly, "Implements": partly, "Zero": partly,
	"Fail": partly, "FailNow": partly, "HTTPStatusCode": exact, "HTTPBodyContains": partly, "NotSubset": partly, "IsIncreasing": partly, "Matches": partly,
	"Positive": flag, "Negative": flag, "Condition": flag, "True": flag, "False": flag, "Eventually": flag, "Never": flag, "EventuallyWithT": flag,
	"NotNil": presence, "NotEmpty": presence, "NotZero": presence, "Nil": presence, "NoError": presence, "Error": presence, "NoErr": presence, "Err": presence,
	"Panics": presence, "NotPanics": presence, "FileExists": presence, "DirExists": presence, "NilError": presence, "NotErrorIs": presence, "NoFileExists": presence,
}

// goAssertion reads a call of a library; args are without the *testing.T.
func goAssertion(on, called string, args [][]word, words []word) check {
	c := check{words: words, what: on + "." + called, subject: words}
	if strings.Contains(on, "(") {
		c.what = called
	}
	base := strings.TrimSuffix(called, "f")
	c.force = goForces[base]
	switch {
	case called == "To" || called == "ToNot" || called == "NotTo" || called == "Should" || called == "ShouldNot":
		return gomega(c, called, words)
	case (called == "Assert" || called == "Check") && len(args) >= 2:
		return checker(c, args)
	case len(args) == 0:
		return c
	case called == "Assert" || called == "Check":
		c.force, c.subject, c.expected = required(args[0])
		return c
	}
	c.subject, c.none = args[0], negative[base]
	testify(&c, base, args)
	if len(args) >= 3 && (strings.HasPrefix(base, "In") || base == "WithinDuration") {
		c.slack = value(args[2])
	}
	return c
}

var negative = set("NoError Nil NoErr NilError False NotPanics NotContains")

// testify reads what is wanted first, then what came.
func testify(c *check, base string, args [][]word) {
	switch {
	case base == "True":
		c.force, c.subject, c.expected = required(args[0])
		c.bound = bound(args[0])
	case base == "False":
		c.force, c.subject, c.expected = refused(args[0], nil)
	case (c.force == exact || base == "Contains" || base == "NotEqual") && len(args) >= 2:
		told := c.force
		c.force, c.subject, c.expected = equality(args[1], args[0])
		switch {
		case base == "Equal" && len(c.expected) == 1 && c.expected[0].is("true", "false"):
			c.force = flag
		case c.force != vain:
			c.force = min(told, max(c.force, sized))
		}
	case base == "Len" && len(args) >= 2:
		c.expected = args[1]
	case c.force == presence && fixed(args[0]) && base != "Nil":
		c.force = vain
	}
}

// value is the number that words begin with or hold, times its unit.
func value(words []word) float64 {
	n, found := 0.0, false
	for _, w := range words {
		if w.kind == number && !found {
			n, found = parse(w.text), true
		}
	}
	scale := 1.0
	for _, w := range words {
		switch w.text {
		case "Minute":
			scale = 60
		case "Hour":
			scale = 3600
		case "Millisecond":
			scale = 1e-3
		case "Microsecond":
			scale = 1e-6
		}
	}
	if !found {
		n = 1
	}
	return n * scale
}

var omegaForces = map[string]force{
	"Equal": exact, "BeEquivalentTo": exact, "BeIdenticalTo": exact, "MatchJSON": exact, "ConsistOf": exact, "MatchError": exact, "MatchYAML": exact,
	"HaveLen": sized, "BeEmpty": sized,
	"ContainElement": partly, "ContainSubstring": partly, "HavePrefix": partly, "HaveSuffix": partly, "MatchRegexp": partly, "HaveKey": partly, "BeNumerically": partly,
	"HaveKeyWithValue": partly, "ContainElements": partly, "BeAssignableToTypeOf": partly, "BeZero": partly,
	"BeTrue": flag, "BeFalse": flag, "BeNil": presence, "HaveOccurred": presence, "Succeed": presence, "Panic": presence, "BeFileExisting": presence,
}

func gomega(c check, called string, words []word) check {
	args := arguments(words)
	c.force = partly
	match := brackets(words)
	for i, w := range words {
		if w.is("(") && match[i] > 0 {
			c.subject = words[i+1 : match[i]]
			break
		}
	}
	if len(args) == 0 || len(args[0]) == 0 {
		return c
	}
	if f, known := omegaForces[args[0][0].text]; known {
		c.force = f
	}
	if inner := arguments(args[0]); len(inner) > 0 && c.force >= sized {
		c.expected = inner[0]
	}
	if called != "To" && called != "Should" && c.force >= partly {
		c.force = partly - 2
	}
	if joined(c.subject) == joined(c.expected) || fixed(c.subject) {
		c.force = vain
	}
	return c
}

// checker is c.Assert(got, Equals, want), as quicktest and gocheck have it.
func checker(c check, args [][]word) check {
	c.subject = args[0]
	if len(args[1]) == 0 {
		return c
	}
	how := args[1][len(args[1])-1].text
	switch how {
	case "Equals", "DeepEquals", "CmpEquals", "ErrorIs", "JSONEquals", "ContentEquals", ")":
		c.force = exact
	case "HasLen":
		c.force = sized
	case "IsNil", "NotNil", "IsNotNil":
		c.force = presence
	case "IsTrue", "IsFalse":
		c.force = flag
	default:
		c.force = partly
	}
	if len(args) > 2 {
		c.expected = args[2]
		if joined(c.subject) == joined(c.expected) {
			c.force = vain
		}
	}
	return c
}
