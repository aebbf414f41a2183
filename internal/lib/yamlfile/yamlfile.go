// Package yamlfile reads the YAML of projects: settings, workflows, issue forms. It takes a file's bytes and returns
// its syntax tree, or fills a value. A small file costs little: YAML's aliases could make it a large one, and the
// parser takes quadratic time for deep nesting.
package yamlfile

import (
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Largest is how many bytes a file may have: the parser takes quadratic time for long mappings, too.
const Largest = 64 << 10

const (
	deepest   = 64          // brackets within brackets, and dashes on a line
	mostAdded = 4 * Largest // bytes that aliases stand for
	valueSize = 8           // of a value beside its text
)

// bracket is by how much a token changes the number of open brackets.
var bracket = map[token.Type]int{
	token.MappingStartType:  1,
	token.SequenceStartType: 1,
	token.MappingEndType:    -1,
	token.SequenceEndType:   -1,
}

// Parse reads a file, and follows no alias.
func Parse(data []byte) (*ast.File, error) {
	if len(data) > Largest {
		return nil, fmt.Errorf("found %d bytes, want at most %d", len(data), Largest)
	}
	tokens := lexer.Tokenize(string(data))
	brackets := 0
	line, dashes := 0, 0
	for _, t := range tokens {
		brackets += bracket[t.Type]
		if t.Position.Line != line {
			dashes = 0
			line = t.Position.Line
		}
		if t.Type == token.SequenceEntryType {
			dashes++
		}
		if max(brackets, dashes) > deepest {
			return nil, fmt.Errorf("line %d is nested deeper than %d levels", t.Position.Line, deepest)
		}
	}
	return parser.Parse(tokens, 0)
}

// Decode fills what to points to with the first document of a file. An empty file fills nothing.
func Decode(data []byte, to any) error {
	file, err := Parse(data)
	if err != nil {
		return err
	}
	for _, document := range file.Docs {
		if document.Body == nil {
			continue
		}
		m := measure{of: map[string]int{}}
		ast.Walk(&m, document.Body)
		if m.err != nil {
			return m.err
		}
		return yaml.NodeToValue(document.Body, to)
	}
	return nil
}

// measure computes how large a document is with each alias written out.
type measure struct {
	size  int
	added int            // of it by aliases
	of    map[string]int // what each anchor's value has
	err   error
}

// Visit refuses an anchor that is named again, and an alias within its own value: only the decoder knows what they
// mean.
func (m *measure) Visit(node ast.Node) ast.Visitor {
	if m.err != nil {
		return nil
	}
	m.size += valueSize
	switch node := node.(type) {
	case *ast.AnchorNode:
		name := node.Name.GetToken().Value
		before := m.size
		ast.Walk(m, node.Value)
		if _, ok := m.of[name]; ok && m.err == nil {
			m.err = fmt.Errorf("the anchor %q is there twice", name)
		}
		m.of[name] = m.size - before
		return nil
	case *ast.AliasNode:
		name := node.Value.GetToken().Value
		size, ok := m.of[name]
		m.size += size
		m.added += size
		switch {
		case !ok:
			m.err = fmt.Errorf("the alias %q stands for nothing before it", name)
		case m.added > mostAdded:
			m.err = fmt.Errorf("its aliases stand for more than %d bytes", mostAdded)
		}
		return nil
	case ast.ScalarNode:
		m.size += len(node.GetToken().Value)
	}
	return m
}
