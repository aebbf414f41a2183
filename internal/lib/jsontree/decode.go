package jsontree

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Decoder decodes values into structs by the tags of their fields, json and those of the schemas (jsonschema). After a
// problem it goes on, so that all are reported together. A null counts as a missing key, and words have any case.
type Decoder struct {
	Problems []Problem
	Open     bool // takes unknown keys, unless one looks like a known key

	// Check says what else is wrong with a text whose field has this pattern and this tag "check"; empty: nothing.
	Check func(text Node, pattern, check string) string
	// Before gets a pointer to each value before it is decoded, for a default. It can also decode the value itself.
	Before func(at At, to any) (done bool)
}

// At is a value with its place in the tree.
type At struct {
	Node
	above *At
	step  string // from above
}

// Path returns the place, such as "guardrails[0].command".
func (a At) Path() string {
	if a.above == nil {
		return ""
	}
	return strings.TrimPrefix(a.above.Path()+a.step, ".")
}

// Member returns the value of a key. Where there is none, or null, it stands at the object's line.
func (a At) Member(key string) (at At, given bool) {
	for _, m := range a.Members {
		if m.Key == key && m.Value.Kind != Null {
			return At{m.Value, &a, "." + key}, true
		}
	}
	return At{Node{File: a.File, Line: a.Line}, &a, "." + key}, false
}

// Item returns an item of a list.
func (a At) Item(i int) At { return At{a.Items[i], &a, "[" + strconv.Itoa(i) + "]"} }

// Report adds a problem.
func (d *Decoder) Report(at At, format string, args ...any) {
	d.Problems = append(d.Problems, Problem{
		File: at.File,
		Line: at.Line,
		Path: Clip(at.Path(), MaxFound),
		Text: fmt.Sprintf(format, args...),
	})
}

// Decode decodes a value into what to points to.
func (d *Decoder) Decode(at At, to any) {
	d.duplicates(at)
	d.value(at, reflect.ValueOf(to).Elem(), rule{})
}

// duplicates reports keys that stand twice, at any place: one of the values would be lost.
func (d *Decoder) duplicates(at At) {
	seen := map[string]bool{}
	for _, m := range at.Members {
		inner := At{m.Value, &at, "." + m.Key}
		d.duplicates(inner)
		if seen[m.Key] {
			inner.Line = m.Line
			d.Report(inner, "given twice, want one")
		}
		seen[m.Key] = true
	}
	for i := range at.Items {
		d.duplicates(at.Item(i))
	}
}

// rule is what a field's tags require.
type rule struct {
	required       bool
	low, high      float64
	filled         bool // has an item
	many           int  // items at most
	pattern, check string
	words          []string
}

const largestInt = 1 << 53 // that every float64 below can hold

func ruleOf(field reflect.StructField) rule {
	r := rule{low: -largestInt, high: largestInt, many: math.MaxInt, check: field.Tag.Get("check")}
	for part := range strings.SplitSeq(field.Tag.Get("jsonschema"), ",") {
		switch name, value, _ := strings.Cut(part, "="); name {
		case "required":
			r.required = true
		case "minimum":
			r.low, _ = strconv.ParseFloat(value, 64) // tests check the tags
		case "maximum":
			r.high, _ = strconv.ParseFloat(value, 64)
		case "minItems":
			r.filled = true
		case "maxItems":
			r.many, _ = strconv.Atoi(value)
		case "pattern":
			r.pattern = value
		case "enum":
			r.words = append(r.words, value)
		}
	}
	return r
}

// Keys returns those of a struct in JSON.
func Keys(of reflect.Type) []string {
	var keys []string
	for field := range of.Fields() {
		if key := keyOf(field); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

func keyOf(field reflect.StructField) string {
	key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return key
}

func (d *Decoder) value(at At, to reflect.Value, r rule) {
	if d.Before != nil && d.Before(at, to.Addr().Interface()) {
		return
	}
	switch to.Kind() { //nolint:exhaustive // nothing else is decoded
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		d.value(at, to.Elem(), r)
	case reflect.Struct:
		d.object(at, to)
	case reflect.Slice:
		d.list(at, to, r)
	case reflect.Map:
		d.table(at, to)
	case reflect.Bool:
		if at.Kind != Bool {
			d.Report(at, "found %s, want true or false", at)
		}
		to.SetBool(at.Text == "true")
	case reflect.Int:
		to.SetInt(int64(d.number(at, r, "a whole number")))
	case reflect.Float64:
		to.SetFloat(d.number(at, r, "a number"))
	case reflect.String:
		to.SetString(d.text(at, r))
	}
}

func (d *Decoder) isObject(at At, keys ...string) bool {
	switch {
	case at.Kind == Object:
	case len(keys) == 0 || len(keys) > 10:
		d.Report(at, "found %s, want an object", at)
	default:
		d.Report(at, "found %s, want an object with %s", at, oneOf(keys))
	}
	return at.Kind == Object
}

func (d *Decoder) object(at At, to reflect.Value) {
	if !d.isObject(at, Keys(to.Type())...) {
		return
	}
	intended := d.unknown(at, to.Type())
	for field := range to.Type().Fields() {
		key, r := keyOf(field), ruleOf(field)
		value, given := at.Member(key)
		switch {
		case key == "":
		case given:
			d.value(value, to.FieldByIndex(field.Index), r)
		case r.required && !intended[key]: // a mistyped key is not missing as well
			d.Report(value, "missing")
		}
	}
}

// unknown reports mistyped keys, and returns the keys that were probably intended.
func (d *Decoder) unknown(at At, to reflect.Type) map[string]bool {
	known := Keys(to)
	intended := map[string]bool{}
	for _, m := range at.Members {
		if slices.Contains(known, m.Key) {
			continue
		}
		key := At{Node{File: at.File, Line: m.Line}, &at, "." + m.Key}
		if near, ok := Nearest(m.Key, known); ok {
			intended[near] = true
			d.Report(key, "unknown key, did you mean %q?", near)
		} else if parent := parentOf(m.Key, to); parent != "" {
			d.Report(key, "unknown key here, write it within %q", parent)
		} else if !d.Open {
			d.Report(key, "unknown key, want %s", oneOf(known))
		}
	}
	return intended
}

// parentOf returns the key of the object that has a key of that name.
func parentOf(key string, to reflect.Type) string {
	for field := range to.Fields() {
		if field.Type.Kind() == reflect.Struct && slices.Contains(Keys(field.Type), key) {
			return keyOf(field)
		}
	}
	return ""
}

func oneOf(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func (d *Decoder) list(at At, to reflect.Value, r rule) {
	n := len(at.Items)
	switch {
	case at.Kind == Text && to.Type().Elem().Kind() == reflect.String:
		d.Report(at, "found %s, want a list: [%s]", at, at)
	case at.Kind != List:
		d.Report(at, "found %s, want a list", at)
	case n == 0 && r.filled:
		d.Report(at, "empty, want at least one")
	case n > r.many:
		d.Report(at, "found %d items, want at most %d", n, r.many)
		return
	}
	to.Set(reflect.MakeSlice(to.Type(), n, n))
	for i := range n {
		d.value(at.Item(i), to.Index(i), r)
	}
}

func (d *Decoder) table(at At, to reflect.Value) {
	if !d.isObject(at) {
		return
	}
	to.Set(reflect.MakeMap(to.Type()))
	for _, m := range at.Members {
		value := reflect.New(to.Type().Elem()).Elem()
		d.value(At{m.Value, &at, "." + m.Key}, value, rule{})
		to.SetMapIndex(reflect.ValueOf(m.Key), value)
	}
}

// number takes whole numbers as 1e3 and 10.0, too.
func (d *Decoder) number(at At, r rule, want string) float64 {
	n, err := strconv.ParseFloat(at.Text, 64)
	isNumber := at.Kind == Number && err == nil
	isWhole := want == "a number" || n == math.Trunc(n)
	isWithin := n >= r.low && n <= r.high
	if isNumber && isWhole && isWithin {
		return max(n, r.low) // no negative zero
	}
	if r.high < largestInt {
		want += fmt.Sprintf(" from %.0f to %.0f", r.low, r.high)
	}
	d.Report(at, "found %s, want %s", at, want)
	return 0
}

func (d *Decoder) text(at At, r rule) string {
	switch {
	case len(r.words) > 0:
		return d.word(at, r.words)
	case at.Kind != Text:
		d.Report(at, "found %s, want a string", at)
		return ""
	case r.pattern != "" && strings.TrimSpace(at.Text) == "":
		d.Report(at, "found %s, want some text", at)
	case d.Check != nil:
		if wrong := d.Check(at.Node, r.pattern, r.check); wrong != "" {
			d.Report(at, "%s", wrong)
		}
	}
	return at.Text
}

func (d *Decoder) word(at At, words []string) string {
	for _, word := range words {
		if at.Kind == Text && strings.EqualFold(word, at.Text) {
			return word
		}
	}
	d.Report(at, "found %s, %s", at, Choose(at.Text, words))
	return ""
}

// Choose returns which of some words a text should be.
func Choose(text string, words []string) string {
	if near, ok := Nearest(text, words); ok && text != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "want " + oneOf(words)
}
