package tamper

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// flatYAML walks the tree as it is written: an alias stands for its name, so a
// small file stays small.
func flatYAML(data []byte) (all []setting) {
	defer func() { // others' code, fed with anything
		if recover() != nil {
			all = nil
		}
	}()
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil
	}
	for _, doc := range file.Docs {
		walkYAML(doc.Body, "", &all, 0)
	}
	return all
}

func walkYAML(n ast.Node, key string, all *[]setting, depth int) {
	if n == nil || depth > 100 || len(*all) > maxKeys {
		return
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, v := range n.Values {
			walkYAML(v, key, all, depth+1)
		}
	case *ast.MappingValueNode:
		walkYAML(n.Value, joinKey(key, plainYAML(n.Key)), all, depth+1)
	case *ast.SequenceNode:
		for i, v := range n.Values {
			walkYAML(v, key+"["+identityYAML(v, i)+"]", all, depth+1)
		}
	case *ast.AnchorNode:
		walkYAML(n.Value, key, all, depth+1)
	case *ast.TagNode:
		walkYAML(n.Value, key, all, depth+1)
	default:
		*all = append(*all, setting{key, plainYAML(n), n.GetToken().Position.Line})
	}
}

func plainYAML(n ast.Node) string {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.AliasNode:
		return "*"
	default:
		return strings.Trim(n.GetToken().Value, `"'`)
	}
}

// identityYAML is what tells an element of a list from the others: nothing
// for a plain value, whose order says little.
func identityYAML(n ast.Node, i int) string {
	var pairs []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	default:
		return ""
	}
	for _, wanted := range []string{"name", "id", "uses", "repo", "path", "run", "linters", "task"} {
		for _, p := range pairs {
			if plainYAML(p.Key) == wanted {
				if text, _, _ := strings.Cut(plainYAML(p.Value), "@"); text != "" {
					return short(text, 60)
				}
			}
		}
	}
	return fmt.Sprint(i)
}
