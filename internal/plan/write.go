package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Extra is a key that this program does not know: agents keep notes of their
// own, and a plan that is written back must not lose them.
type Extra struct {
	Key   string
	Value json.RawMessage
}

// Marshal writes the plan as a file: two spaces of indentation, every known
// key in the order of the type, then the unknown ones as they came.
func (p Plan) Marshal() ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(p); err != nil {
		return nil, fmt.Errorf("write plan: %w", err)
	}
	if out.Len() > maxBytes {
		return nil, fmt.Errorf("write plan: it takes %d bytes, more than the %d that are read back", out.Len(), maxBytes)
	}
	return out.Bytes(), nil
}

// MarshalJSON keeps the unknown keys; lists are written even when empty, so
// that an agent sees what it may fill in.
func (p Plan) MarshalJSON() ([]byte, error) {
	type bare Plan
	b := bare(p)
	b.VerifyCommands = orEmpty(b.VerifyCommands)
	b.UserStories = orEmpty(b.UserStories)
	return withExtra(b, p.Extra)
}

// MarshalJSON is that of Plan, for one story.
func (s Story) MarshalJSON() ([]byte, error) {
	type bare Story
	b := bare(s)
	b.AcceptanceCriteria = orEmpty(b.AcceptanceCriteria)
	b.DependsOn = orEmpty(b.DependsOn)
	return withExtra(b, s.Extra)
}

// UnmarshalJSON takes back what MarshalJSON wrote, as out of a journal. It
// judges nothing: what a person or an agent wrote goes through Read.
func (p *Plan) UnmarshalJSON(data []byte) error {
	type bare Plan
	var b bare
	extra, err := takeBack(data, &b, planShape)
	if err != nil {
		return fmt.Errorf("take back plan: %w", err)
	}
	*p = Plan(b)
	p.Extra = extra
	p.VerifyCommands, p.UserStories = orNil(p.VerifyCommands), orNil(p.UserStories)
	return nil
}

// UnmarshalJSON is that of Plan, for one story.
func (s *Story) UnmarshalJSON(data []byte) error {
	type bare Story
	var b bare
	extra, err := takeBack(data, &b, storyShape)
	if err != nil {
		return fmt.Errorf("take back story: %w", err)
	}
	*s = Story(b)
	s.Extra = extra
	s.AcceptanceCriteria, s.DependsOn, s.TestedBy = orNil(s.AcceptanceCriteria), orNil(s.DependsOn), orNil(s.TestedBy)
	return nil
}

func takeBack(data []byte, into any, shape shape) ([]Extra, error) {
	if err := json.Unmarshal(data, into); err != nil {
		return nil, err
	}
	root, _, err := parse(data)
	if err != nil {
		return nil, err
	}
	var extra []Extra
	for _, m := range root.members {
		if !slices.Contains(shape.known, m.key) {
			extra = append(extra, Extra{m.key, compact(data, m.value)})
		}
	}
	return extra, nil
}

// withExtra writes known, an object, and lets extra follow inside it.
func withExtra(known any, extra []Extra) ([]byte, error) {
	out, err := plainJSON(known)
	if err != nil {
		return nil, err
	}
	out = bytes.TrimSuffix(out, []byte("}"))
	for _, e := range extra {
		key, err := plainJSON(e.Key)
		if err != nil {
			return nil, err
		}
		value, err := plainJSON(e.Value)
		if err != nil {
			return nil, fmt.Errorf("key %s: %w", key, err)
		}
		out = slices.Concat(out, []byte(","), key, []byte(":"), value)
	}
	return append(out, '}'), nil
}

// plainJSON leaves <, > and & as people wrote them.
func plainJSON(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// orNil makes an empty list nil, so that equal plans are equal values.
func orNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}
