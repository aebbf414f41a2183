package main_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rhysd/actionlint"
)

// guard is a condition of a workflow, as GitHub evaluates it; it knows what ours
// use of the language, and says so of the rest:
// https://docs.github.com/en/actions/reference/workflows-and-actions/expressions
type guard struct {
	contexts map[string]any // github, inputs
}

// holds reports whether the job or step with that condition starts.
func (g guard) holds(condition string) (bool, error) {
	tree, wrong := actionlint.NewExprParser().Parse(actionlint.NewExprLexer(condition + "}}"))
	if wrong != nil {
		return false, wrong
	}
	value, err := g.of(tree)
	return truthy(value), err
}

func (g guard) of(node actionlint.ExprNode) (any, error) {
	switch n := node.(type) {
	case *actionlint.StringNode:
		return n.Value, nil
	case *actionlint.VariableNode:
		return g.contexts[n.Name], nil
	case *actionlint.ObjectDerefNode:
		receiver, err := g.of(n.Receiver)
		if all, isList := receiver.([]any); isList { // of each
			each := []any{}
			for _, one := range all {
				each = append(each, property(one, n.Property))
			}
			return each, err
		}
		return property(receiver, n.Property), err
	case *actionlint.ArrayDerefNode:
		list, err := g.of(n.Receiver)
		all, _ := list.([]any)
		return all, err
	case *actionlint.NotOpNode:
		value, err := g.of(n.Operand)
		return !truthy(value), err
	case *actionlint.LogicalOpNode:
		return g.logical(n)
	case *actionlint.CompareOpNode:
		return g.compared(n)
	case *actionlint.FuncCallNode:
		return g.called(n)
	}
	return nil, fmt.Errorf("a guard of ours has a %T, which this test does not know", node)
}

// logical returns the operand that decides, as GitHub does.
func (g guard) logical(n *actionlint.LogicalOpNode) (any, error) {
	left, err := g.of(n.Left)
	if err != nil || truthy(left) == (n.Kind == actionlint.LogicalOpNodeKindOr) {
		return left, err
	}
	return g.of(n.Right)
}

func (g guard) compared(n *actionlint.CompareOpNode) (any, error) {
	left, err := g.of(n.Left)
	if err != nil {
		return nil, err
	}
	right, err := g.of(n.Right)
	if n.Kind != actionlint.CompareOpNodeKindEq && n.Kind != actionlint.CompareOpNodeKindNotEq {
		return nil, fmt.Errorf("a guard of ours compares by %v, which this test does not know", n.Kind)
	}
	return equal(left, right) == (n.Kind == actionlint.CompareOpNodeKindEq), err
}

func (g guard) called(n *actionlint.FuncCallNode) (any, error) {
	var args []any
	for _, node := range n.Args {
		value, err := g.of(node)
		if err != nil {
			return nil, err
		}
		args = append(args, value)
	}
	switch name := strings.ToLower(n.Callee); {
	case name == "startswith" && len(args) == 2:
		return strings.HasPrefix(strings.ToLower(text(args[0])), strings.ToLower(text(args[1]))), nil
	case name == "contains" && len(args) == 2:
		list, isList := args[0].([]any)
		if !isList {
			return strings.Contains(strings.ToLower(text(args[0])), strings.ToLower(text(args[1]))), nil
		}
		return slices.ContainsFunc(list, func(one any) bool { return equal(one, args[1]) }), nil
	case name == "fromjson" && len(args) == 1:
		var value any
		err := json.Unmarshal([]byte(text(args[0])), &value)
		return value, err
	case name == "tojson" && len(args) == 1:
		var out strings.Builder
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		err := encoder.Encode(args[0])
		return strings.TrimSpace(out.String()), err
	}
	return nil, fmt.Errorf("a guard of ours calls %s, which this test does not know", n.Callee)
}

// property is one of an object, in any case of letters; of all
// else it is null.
func property(of any, name string) any {
	object, _ := of.(map[string]any)
	for key, value := range object {
		if strings.EqualFold(key, name) {
			return value
		}
	}
	return nil
}

func truthy(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case float64:
		return v != 0
	}
	return true
}

// equal compares as GitHub does what is of one type: strings in any case. Our
// guards compare nothing else, but for what is not there.
func equal(a, b any) bool {
	x, isText := a.(string)
	y, too := b.(string)
	if isText && too {
		return strings.EqualFold(x, y)
	}
	return a == b
}

func text(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}
