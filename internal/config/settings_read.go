package config

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/jsontree"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/policy"
)

// File is the content of a file, and its name for messages.
type File struct {
	Name string
	Data []byte
}

// ProjectFiles are a project's shared and local settings. read returns nil for a missing file.
func ProjectFiles(project string, read func(project, name string) ([]byte, error)) ([]File, error) {
	var files []File
	for _, name := range []string{BaseSettings, localSettings} {
		data, err := read(project, name)
		if err != nil {
			return nil, err
		}
		if data != nil {
			files = append(files, File{Name: name, Data: data})
		}
	}
	return files, nil
}

// ReadSettings reads settings files, of which later ones override earlier ones:
// scalars and lists replace, objects are merged key by key, and null counts as a
// missing key. The error lists all problems, one on a line.
func ReadSettings(files ...File) (Settings, error) {
	var d decoder
	merged := d.mergeFiles(files)
	if err := d.fault(); err != nil {
		return Settings{}, err
	}
	return d.effective(merged), d.fault()
}

func (d *decoder) mergeFiles(files []File) node {
	merged := node{Kind: jsontree.Object}
	for _, f := range files {
		if root, ok := d.parseJSON(f); ok {
			d.settings(pathNode{node: root})
			merged = merge(merged, root)
		}
	}
	return merged
}

// effective decodes merged settings, which show whether a required key is missing.
func (d *decoder) effective(root node) Settings {
	d.present = map[string]bool{}
	s := d.settings(pathNode{node: root})
	s.present = d.present
	if s.SCM != nil && s.SCM.Command == "" {
		scm, _ := memberOf(root, "scm")
		d.report(pathNode{node: scm, path: "scm.command"}, "missing")
	}
	return s
}

func (d *decoder) settings(s pathNode) Settings {
	usual := policy.ForPreset(policy.Guardrails)
	all := Settings{
		MaximumIterations: usual.Limits.Iterations, CompletionResponse: usual.Word, OutputTruncateChars: usual.Excerpt.Chars, StreamAgentOutput: true,
		Agent: Agent{Flags: []string{}}, Guardrails: []Guardrail{},
	}
	d.decode(s, reflect.ValueOf(&all).Elem(), rule{})
	if n := all.Limits.MaxIterations; n != nil {
		if all.MaximumIterations = *n; d.present != nil {
			d.present["maximumIterations"] = true
		}
	}
	return all
}

// rule is what a field's tags require; the schema has the same tags. `check` is a rule beyond schemas.
type rule struct {
	required  bool
	low, high float64
	pattern   string
	words     []string
	check     string
}

// patternWords explains the patterns of the tags.
var patternWords = map[string]struct {
	is   *pattern.Pattern
	want string
}{
	`^\S+$`:                             {pattern.Of(`^\S+$`), "it without blanks"},
	`^[^\s/]+$`:                         {pattern.Of(`^[^\s/]+$`), "a host's name alone, with a port if need be"},
	`^[A-Za-z0-9*][A-Za-z0-9*._:/@-]*$`: {pattern.Of(`^[A-Za-z0-9*][A-Za-z0-9*._:/@-]*$`), "a model's name, or a pattern, as in claude-haiku-*"},
	`^[A-Za-z_][A-Za-z0-9_]*$`:          {pattern.Of(`^[A-Za-z_][A-Za-z0-9_]*$`), "the name of a variable, as in DATABASE_URL"},
}

type structField struct {
	name  string
	field reflect.StructField
}

func structFields(of reflect.Type) (all []structField) {
	for _, f := range reflect.VisibleFields(of) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			all = append(all, structField{name, f})
		}
	}
	return all
}

func keyNames(of reflect.Type) (all []string) {
	for _, f := range structFields(of) {
		all = append(all, f.name)
	}
	return all
}

func (k structField) rule() rule {
	r := rule{check: k.field.Tag.Get("check")}
	for part := range strings.SplitSeq(k.field.Tag.Get("jsonschema"), ",") {
		switch name, value, _ := strings.Cut(part, "="); name {
		case "required":
			r.required = true
		case "minimum":
			r.low, _ = strconv.ParseFloat(value, 64) // tests check the tags
		case "maximum":
			r.high, _ = strconv.ParseFloat(value, 64)
		case "pattern":
			r.pattern = value
		case "enum":
			r.words = append(r.words, value)
		}
	}
	return r
}

func (d *decoder) decode(s pathNode, to reflect.Value, r rule) {
	if to.Type() == reflect.TypeFor[policy.Duration]() {
		to.SetInt(int64(d.duration(s)))
		return
	}
	switch to.Kind() { //nolint:exhaustive // settings have no other kinds
	case reflect.Pointer:
		value := newValue(to.Type().Elem())
		d.decode(s, value.Elem(), r)
		to.Set(value)
	case reflect.Struct:
		d.decodeStruct(s, to)
	case reflect.Slice:
		d.decodeList(s, to, r)
	case reflect.Map:
		d.decodeMap(s, to)
	case reflect.Bool:
		to.SetBool(d.flag(s))
	case reflect.Int:
		to.SetInt(int64(d.integer(r.low, r.high)(s)))
	case reflect.Float64:
		to.SetFloat(d.money(s))
	case reflect.String:
		to.SetString(d.decodeString(s, r))
	}
}

func newValue(of reflect.Type) reflect.Value {
	value := reflect.New(of)
	switch to := value.Interface().(type) {
	case *Guardrail:
		to.Timeout = guardrailTimeout
	case *SCM:
		to.Tasks = []string{}
	}
	return value
}

func (d *decoder) decodeStruct(s pathNode, to reflect.Value) {
	var required []string
	all := structFields(to.Type())
	for _, f := range all {
		if f.rule().required {
			required = append(required, f.name)
		}
	}
	d.checkObject(s, keyNames(to.Type()), required...)
	for _, f := range all {
		if value := d.field(s, f.name); value.Kind != jsontree.None {
			d.decode(value, to.FieldByIndex(f.field.Index), f.rule())
		}
	}
}

func (d *decoder) decodeList(s pathNode, to reflect.Value, r rule) {
	if s.Kind != jsontree.List {
		d.report(s, "found %s, want a list", s.node)
	}
	to.Set(reflect.MakeSlice(to.Type(), 0, len(s.Items)))
	for i, item := range s.Items {
		value := newValue(to.Type().Elem()).Elem()
		d.decode(pathNode{node: item, path: s.path + "[" + strconv.Itoa(i) + "]"}, value, r)
		to.Set(reflect.Append(to, value))
	}
}

func (d *decoder) decodeMap(s pathNode, to reflect.Value) {
	var names []string
	for _, m := range s.Members {
		names = append(names, m.Key)
	}
	d.checkObject(s, names)
	to.Set(reflect.MakeMap(to.Type()))
	for _, name := range names {
		value := newValue(to.Type().Elem()).Elem()
		d.decode(d.field(s, name), value, rule{})
		to.SetMapIndex(reflect.ValueOf(name), value)
	}
}

func (d *decoder) decodeString(s pathNode, r rule) string {
	if r.check == "upper" {
		s.Text = strings.ToUpper(s.Text)
	}
	form, formed := patternWords[r.pattern]
	switch filled := s.Kind == jsontree.Text && !blank(s.Text); {
	case r.words != nil:
		return d.oneOf(s, r.words)
	case r.pattern == "":
		return d.anyText(s)
	case filled && formed && !form.is.MatchString(s.Text):
		d.report(s, "found %s, want %s", s.node, form.want)
	case filled && r.check == "glob" && !doublestar.ValidatePattern(s.Text): // it would match nothing without an error
		d.report(s, "found %s, want a glob whose brackets and braces are closed", s.node)
	case filled && r.check == "command":
		d.checkCommand(s)
	case filled && valueChecks[r.check] != nil:
		if err := valueChecks[r.check](s.Text); err != nil {
			d.report(s, "%s", err)
		}
	}
	return d.text(s)
}

var valueChecks = map[string]func(string) error{
	"variable": environ.CheckVariable,
	"service":  func(s string) error { _, err := egress.ParseServices([]string{s}); return err },
}

// checkCommand reports a command that agent.Words cannot split.
func (d *decoder) checkCommand(s pathNode) {
	split, err := agent.Words(s.Text)
	switch {
	case err != nil:
		d.report(s, "%s", err)
	case len(split) == 0:
		d.report(s, "found %s, want words that a shell would not take for a comment", s.node)
	}
}
