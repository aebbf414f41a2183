package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/lib/clean"
)

// formField is a field of a form in testdata/forms, with its answer.
type formField struct {
	kind, label   string
	given, answer []string
}

type filled struct {
	title, want string
	fields      []formField
	stories     []string
}

func fill(text string) filled {
	f := filled{want: "plain"}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		last := len(f.fields) - 1
		kind, label, _ := strings.Cut(line, ": ")
		switch {
		case strings.HasPrefix(line, "# "):
			f.title = line[2:]
		case kind == "want":
			f.want = label
		case f.want != "plain":
			f.stories = append(f.stories, line)
		case strings.HasPrefix(line, "  = "):
			f.fields[last].given = append(f.fields[last].given, line[4:])
		case strings.HasPrefix(line, "  "):
			f.fields[last].answer = append(f.fields[last].answer, line[2:])
		case line != "":
			f.fields = append(f.fields, formField{kind: kind, label: label})
		case last >= 0:
			f.fields[last].answer = append(f.fields[last].answer, "")
		}
	}
	if f.want == "plain" {
		end := strings.TrimRight(f.title, ".") + "."
		f.stories = []string{"* " + f.title, "  - " + end}
	}
	for i := 0; i < len(f.stories); i++ { // a story without criteria has its title for one
		title, is := strings.CutPrefix(f.stories[i], "* ")
		if is && (i+1 == len(f.stories) || strings.HasPrefix(f.stories[i+1], "* ")) {
			f.stories = slices.Insert(f.stories, i+1, "  - "+title+".")
		}
	}
	return f
}

// yaml returns the file of the form.
func (f filled) yaml() []byte {
	var out strings.Builder
	out.WriteString("name: a form\ndescription: a form\nbody:\n  - type: markdown\n    attributes:\n      value: Thanks!\n")
	for _, field := range f.fields {
		kind := map[string]string{"promises": "checkboxes", "code": "textarea"}[field.kind]
		if kind == "" {
			kind = field.kind
		}
		fmt.Fprintf(&out, "  - type: %s\n    attributes:\n      label: %q\n", kind, field.label)
		if len(field.given) > 0 {
			fmt.Fprintf(&out, "      value: %q\n", strings.Join(field.given, "\n"))
		}
		if kind == "checkboxes" {
			out.WriteString("      options:\n")
			for _, option := range field.answer {
				fmt.Fprintf(&out, "        - label: %q\n", option[2:])
			}
		}
	}
	return []byte(out.String())
}

// body returns the issue as GitHub writes it. Newer forms tick boxes with x, older ones with X.
func (f filled) body(tick string) string {
	var out strings.Builder
	for _, field := range f.fields {
		answer := field.answer
		if len(answer) == 0 {
			answer = field.given
		}
		fmt.Fprintf(&out, "### %s\n\n", field.label)
		switch {
		case len(answer) == 0:
			out.WriteString("_No response_")
		case field.kind == "code":
			out.WriteString("```shell\n" + strings.Join(answer, "\n") + "\n```")
		case field.kind == "promises" || field.kind == "checkboxes":
			for _, option := range answer {
				fmt.Fprintf(&out, "- [%s] %s\n", map[byte]string{'x': tick, '.': " "}[option[0]], option[2:])
			}
		default:
			out.WriteString(strings.Join(answer, "\n"))
		}
		out.WriteString("\n\n")
	}
	return out.String()
}

// wrong returns the differences between the drafted and the expected plan.
func (f filled) wrong(tick string, forms ...[]byte) string {
	p, source, err := plan.Draft(plan.Task{Kind: plan.KindIssue, Number: 12, Title: f.title, Body: clean.FromMarkdown(f.body(tick), 0).Text}, forms...)
	if f.want == "refused" || err != nil {
		return cmp.Diff(f.want == "refused", err != nil)
	}
	stories := []string{}
	said := p.Description
	for _, s := range p.UserStories {
		stories = append(stories, "* "+s.Title)
		for _, criterion := range s.AcceptanceCriteria {
			stories = append(stories, "  - "+criterion)
		}
		said += "\n" + s.Title + "\n" + s.Description + "\n" + strings.Join(s.AcceptanceCriteria, "\n")
	}
	diff := cmp.Diff(f.want, string(source)) + cmp.Diff(f.stories, stories)
	for _, field := range f.fields {
		for i, line := range field.answer {
			promise := field.kind == "promises" && len(forms) > 0
			if field.kind == "textarea" && i == 0 && !strings.HasSuffix(line, ":") && !strings.Contains(said, strings.TrimLeft(line, "-*[] #")) {
				diff += fmt.Sprintf("lost: %s\n", line)
			}
			if promise && strings.Contains(said, line[2:]) {
				diff += fmt.Sprintf("kept the promise: %s\n", line)
			}
		}
	}
	return diff
}

// Draft was developed with the forms in fit. The forms in heldout test it with
// unknown forms.
func TestIssueForms(t *testing.T) {
	for _, half := range []string{"fit", "heldout"} {
		archive, err := txtar.ParseFile("testdata/forms/" + half + ".txtar")
		if err != nil || len(archive.Files) < 30 {
			t.Fatalf("%s: %d issues, %v", half, len(archive.Files), err)
		}
		for _, known := range []bool{true, false} {
			right, all := 0, 0
			for _, file := range archive.Files {
				for _, tick := range []string{"x", "X"} {
					f := fill(string(file.Data))
					var forms [][]byte
					if known {
						forms = append(forms, f.yaml())
					}
					all++
					if diff := f.wrong(tick, forms...); diff == "" {
						right++
					} else {
						t.Errorf("%s, ticked %s, its form is known: %t (-want +got):\n%s", file.Name, tick, known, diff)
					}
				}
			}
			t.Logf("%s, forms known: %t: %d of %d right", half, known, right, all)
		}
	}
}
