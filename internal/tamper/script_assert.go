package tamper

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// scriptForces are the matchers of jest, vitest, jasmine, chai and playwright.
var scriptForces = map[string]force{
	"toBe": exact, "toEqual": exact, "toStrictEqual": exact, "toThrowErrorMatchingInlineSnapshot": exact, "toMatchInlineSnapshot": exact, "toMatchSnapshot": partly + 2,
	"toHaveBeenCalledWith": exact, "toHaveBeenCalledTimes": exact, "toHaveBeenLastCalledWith": exact, "toHaveBeenNthCalledWith": exact, "toHaveReturnedWith": exact,
	"toBeCalledWith": exact, "toBeCalledTimes": exact, "toHaveBeenCalledOnceWith": exact, "lastCalledWith": exact, "toHaveBeenCalledOnce": sized,
	"toBeCloseTo": exact, "toHaveTextContent": sized, "toHaveValue": exact, "toHaveAttribute": sized, "toHaveClass": sized, "toHaveText": exact, "toHaveURL": exact, "toHaveTitle": exact,
	"toHaveLength": sized, "toHaveCount": sized, "toHaveProperty": sized, "toMatchObject": sized - 2, "toHaveStyle": sized,
	"toContain": partly, "toContainEqual": partly, "toMatch": partly, "toBeGreaterThan": partly, "toBeGreaterThanOrEqual": partly, "toBeLessThan": partly,
	"toBeLessThanOrEqual": partly, "toContainText": partly, "toSatisfy": partly,
	"toBeInstanceOf": flag, "toBeTypeOf": flag, "toBeNull": exact, "toBeUndefined": exact, "toBeNaN": exact,
	"toBeDefined": presence, "toBeTruthy": presence, "toBeFalsy": presence, "toHaveBeenCalled": presence, "toBeCalled": presence, "toHaveReturned": presence,
	"toBeInTheDocument": presence, "toBeVisible": presence, "toBeDisabled": presence, "toBeEnabled": presence, "toBeChecked": presence, "toBeEmptyDOMElement": presence,
	// chai
	"equal": exact, "eql": exact, "equals": exact, "eq": exact, "deep": exact, "members": exact, "calledWith": exact, "calledOnceWith": exact, "callCount": exact,
	"keys": sized, "lengthOf": sized, "property": sized, "closeTo": exact, "calledOnce": partly, "calledTwice": partly,
	"include": partly, "contain": partly, "includes": partly, "contains": partly, "match": partly, "above": partly, "below": partly, "least": partly, "most": partly,
	"greaterThan": partly, "lessThan": partly, "within": partly, "oneOf": partly, "rejectedWith": sized, "instanceof": flag, "instanceOf": flag, "string": partly,
	"a": flag, "an": flag, "true": flag + 3, "false": flag + 3, "null": exact, "undefined": exact, "exist": presence, "ok": presence, "empty": sized,
	"called": presence, "rejected": presence, "fulfilled": presence,
	// supertest and others hand on
	"status": exact,
}

// throws ask for more when they are told what.
var throws = set("toThrow toThrowError throw throws toThrowErrorMatchingSnapshot rejects")

// links are the parts of a chain that only link.
var links = set("not to be been is that which and has have with at of same but does still resolves rejects soft poll deep")

// uncalled are matchers that do nothing unless they are called; those of chai
// are asked for by name alone.
var uncalled = pattern.Of(`^to[A-Z]`)

// expectation reads expect(…).….matcher(…).
func (s *scribe) expectation(i int, c chain) check {
	made := check{force: vain, what: "expect"}
	if c.calls[0] < 0 {
		return planned(c)
	}
	made.subject = s.words[c.calls[0]+1 : s.match[c.calls[0]]]
	not := slices.Contains(c.names, "not")
	for n, called := range c.names[1:] {
		if at := c.calls[n+1]; !links[called] && (at >= 0 || !uncalled.MatchString(called)) {
			s.matcher(&made, called, s.args(at))
		}
	}
	switch {
	case not && throws[made.what]:
		made.force = presence
	case not && made.force >= partly:
		made.force = partly - 2
	}
	made.none = not || made.what == "toBeFalsy" || made.what == "false"
	made.dead = s.unheard(i, c)
	if made.force > vain && fixed(made.subject) && (len(made.expected) == 0 || fixed(made.expected)) {
		made.force = vain
	}
	return made
}

// unheard says why nobody hears of it where an expectation fails.
func (s *scribe) unheard(i int, c chain) string {
	switch {
	case len(c.names) > 2 && c.names[len(c.names)-1] == "catch":
		return "its rejection is caught"
	case slices.Contains(c.names, "resolves") || slices.Contains(c.names, "rejects"):
		return s.unawaited(i)
	default:
		return ""
	}
}

// planned reads expect.assertions(2) and its like.
func planned(c chain) check {
	if len(c.names) < 2 {
		return check{}
	}
	switch c.names[1] {
	case "assertions", "hasAssertions":
		return check{force: presence, what: "expect." + c.names[1]}
	case "fail", "unreachable":
		return check{force: partly, what: "expect." + c.names[1]}
	default:
		return check{}
	}
}

func (s *scribe) args(open int) [][]word {
	if open < 0 {
		return nil
	}
	return list(s.words[open+1 : s.match[open]])
}

func (s *scribe) matcher(made *check, n string, args [][]word) {
	if n == "catch" || n == "then" {
		return
	}
	f := strength(n, args)
	if made.what != "expect" && f <= made.force {
		return
	}
	made.force, made.what, made.bound = f, n, bounds[n]
	switch {
	case n == "toBeCloseTo":
		made.slack = 0.005
		if len(args) > 1 {
			made.slack = power(-value(args[1])) / 2
		}
	case n == "closeTo" && len(args) > 1:
		made.slack = value(args[1])
	case len(args) > 1:
		args[0] = joinedArgs(args)
	}
	if len(args) > 0 {
		made.expected = args[0]
	}
	s.weigh(made)
}

// bounds are the matchers of a side.
var bounds = map[string]int{
	"toBeLessThan": 1, "toBeLessThanOrEqual": 1, "below": 1, "most": 1, "lessThan": 1,
	"toBeGreaterThan": -1, "toBeGreaterThanOrEqual": -1, "above": -1, "least": -1, "greaterThan": -1,
}

// strength is how much a matcher asks for.
func strength(n string, args [][]word) force {
	f, known := scriptForces[n]
	switch {
	case throws[n] && len(args) > 0 && joined(args[0]) != "Error":
		return sized
	case throws[n] && len(args) > 0:
		return partly
	case throws[n]:
		return partly - 5
	case !known:
		return sized // a matcher of their own
	default:
		return f
	}
}

// weigh takes what is expected into account.
func (s *scribe) weigh(made *check) {
	if made.what == "toBeDefined" && len(made.subject) > 2 && (strings.HasPrefix(made.subject[0].text, "query") || strings.HasPrefix(made.subject[2].text, "query")) {
		made.force = vain // what is not there is null, which is defined
	}
	if made.force < sized || len(made.expected) == 0 {
		return
	}
	all := joined(made.expected)
	switch {
	case all == joined(made.subject) && !strings.Contains(all, "( "):
		made.force = vain
	case all == joined(made.subject):
		made.force = partly
	case all == "expect . anything ( )":
		made.force = presence
	case len(made.expected) > 3 && made.expected[0].is("expect") && made.expected[2].is("any", "stringContaining", "objectContaining", "arrayContaining", "stringMatching"):
		made.force = partly
	case len(made.expected) == 1 && made.expected[0].is("true", "false"):
		made.force = flag + 3
	case len(made.subject) > 2 && made.subject[len(made.subject)-1].is("length"):
		made.force = sized
	}
}

// asserters are the functions of node:assert, chai's assert, ava and tape.
var asserters = map[string]force{
	"equal": exact, "strictEqual": exact, "deepEqual": exact, "deepStrictEqual": exact, "is": exact, "same": exact, "strictSame": exact, "like": partly, "snapshot": exact,
	"notEqual": partly, "notStrictEqual": partly, "notDeepEqual": partly, "match": partly, "doesNotMatch": partly, "not": partly, "regex": partly, "include": partly,
	"throws": partly, "rejects": partly, "throwsAsync": partly, "doesNotThrow": presence, "notThrows": presence, "lengthOf": sized, "property": sized, "sameMembers": exact,
	"ok": presence, "true": flag + 3, "false": flag + 3, "truthy": presence, "falsy": presence, "isTrue": flag + 3, "isFalse": flag + 3, "notOk": presence, "fail": partly,
	"exists": presence, "isDefined": presence, "isNull": exact, "isNotNull": presence, "isUndefined": exact, "isOk": presence, "plan": presence,
	"isAbove": partly, "isBelow": partly, "isAtLeast": partly, "isAtMost": partly, "typeOf": flag, "instanceOf": flag, "closeTo": exact, "isArray": flag, "isEmpty": sized,
	"assert": presence, "ifError": presence, "isString": flag, "isNumber": flag, "isObject": flag, "isNotEmpty": presence, "deepInclude": sized, "isRejected": presence,
}

// assertion reads assert.equal(…), t.is(…), assert(…), x.should.equal(…), and
// .expect(200) of supertest.
func (s *scribe) assertion(c chain) (check, bool) {
	first, last := c.names[0], c.names[len(c.names)-1]
	args := s.args(c.calls[len(c.calls)-1])
	plain := first == "assert" && (len(c.names) == 1 || len(c.names) == 2 && (last == "ok" || last == "isTrue") && len(args) > 0)
	switch f, known := asserters[last]; {
	case plain:
		made := check{what: "assert"}
		if len(args) > 0 {
			made.force, made.subject, made.expected = required(args[0])
		}
		return made, true
	case (first == "assert" || first == "t" || first == "chai") && len(c.names) >= 2:
		if !known || len(args) == 0 && f != partly {
			return check{}, false
		}
		return told(check{force: f, what: first + "." + last, none: denies[last]}, last, args), true
	default:
		return s.should(c)
	}
}

var denies = set("false falsy isFalse notOk notEqual notStrictEqual notDeepEqual doesNotThrow notThrows not isNull isUndefined ifError doesNotMatch isNotEmpty")

// told reads what an assertion with a name is about.
func told(made check, called string, args [][]word) check {
	if len(args) == 0 {
		return made
	}
	made.subject = args[0]
	switch {
	case len(args) > 1 && made.force == exact:
		f, subject, expected := equality(args[0], args[1])
		made.subject, made.expected = subject, expected
		made.force = map[force]force{vain: vain, flag: flag + 3}[f]
		if f != vain && f != flag {
			made.force = exact
		}
	case len(args) > 1 && (called == "throws" || called == "rejects"):
		made.force = sized
	case made.force == presence && fixed(args[0]):
		made.force = vain
	}
	return made
}

func (s *scribe) should(c chain) (check, bool) {
	for i, n := range c.names[1:] {
		i++
		switch {
		case n == "should":
			return s.shouldBe(c, i), true
		case n == "expect" && c.calls[i] > 0:
			args := s.args(c.calls[i])
			return check{force: exact, what: "expect", expected: joinedArgs(args)}, len(args) > 0
		}
	}
	return check{}, false
}

// shouldBe reads x.should.be.…, and .should('be.visible') of cypress.
func (s *scribe) shouldBe(c chain, i int) check {
	made := check{force: presence, what: "should"}
	if i+1 == len(c.names) {
		if args := s.args(c.calls[i]); len(args) > 0 {
			made.expected, made.force = joinedArgs(args), sized
		}
		return made
	}
	made.what = "expect"
	for j := i + 1; j < len(c.names); j++ {
		if !links[c.names[j]] {
			s.matcher(&made, c.names[j], s.args(c.calls[j]))
		}
	}
	return made
}
