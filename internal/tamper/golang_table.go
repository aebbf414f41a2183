package tamper

import (
	"go/ast"
)

// table reads the rows of what is ranged over.
func (b *goBody) table(x ast.Expr) {
	list, is := x.(*ast.CompositeLit)
	if id, named := x.(*ast.Ident); named {
		list, is = b.lists[id.Name], b.lists[id.Name] != nil
	}
	if !is {
		return
	}
	for _, e := range list.Elts {
		r := row{line: b.line(e.Pos())}
		pair, keyed := e.(*ast.KeyValueExpr)
		if keyed {
			r.inputs = b.of(pair.Key)
			e = pair.Value
		}
		lit, is := e.(*ast.CompositeLit)
		switch {
		case is:
			b.cells(&r, lit)
		case keyed:
			r.expected = b.of(e)
		default:
			r.inputs = b.of(e)
		}
		b.test.rows = append(b.test.rows, r)
	}
}

// cells parts a row: what it wants is named so, or stands last.
func (b *goBody) cells(r *row, lit *ast.CompositeLit) {
	for i, cell := range lit.Elts {
		pair, keyed := cell.(*ast.KeyValueExpr)
		switch {
		case keyed && wanted(joined(b.of(pair.Key))), !keyed && i > 0 && i == len(lit.Elts)-1:
			r.expected = append(r.expected, b.of(cell)...)
		default:
			r.inputs = append(r.inputs, b.of(cell)...)
		}
	}
}
