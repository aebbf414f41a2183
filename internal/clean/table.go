package clean

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extended "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// tables makes a block of each cell of a table, as code and HTML end with their cell.
// goldmark's own transformer also makes the cells that rows lack, columns times rows.
// It only reads the head here.
type tables struct{}

// excessCells are those of a row beyond the table's columns. GitHub does not show them.
type excessCells struct {
	ast.TextBlock
	region
}

// After so many cells that rows lack, GitHub ends a table.
const maxMissingCells = 0x80000

func (tables) Transform(p *ast.Paragraph, reader text.Reader, pc parser.Context) {
	parent, lines := p.Parent(), p.Lines()
	for i := 1; i < lines.Len(); i++ {
		columns := columnsOf(lines.Sliced(i-1, i+1), reader, pc)
		head := cellBlocks(lines.At(i-1), columns, reader)
		if columns == 0 || len(head) < columns || isLazy(parent, lines.At(i), reader.Source()) {
			continue
		}
		blocks := append(head, rowBlocks(parent, lines.Sliced(i+1, lines.Len()), columns, reader)...)
		var last ast.Node = p
		for _, block := range blocks {
			parent.InsertAfter(parent, last, block)
			last = block
		}
		if lines.SetSliced(0, i-1); i == 1 {
			parent.RemoveChild(parent, p)
		}
		if rest, is := last.(*ast.Paragraph); is && rest != p {
			tables{}.Transform(rest, reader, pc)
		}
		return
	}
}

// columnsOf returns the number of columns of a table with this head, or 0 if it is none.
func columnsOf(head []text.Segment, reader text.Reader, pc parser.Context) int {
	parent, p := ast.NewDocument(), ast.NewParagraph()
	p.Lines().AppendAll(head)
	parent.AppendChild(parent, p)
	extension.NewTableParagraphTransformer().Transform(p, reader, pc)
	if table, is := parent.FirstChild().(*extended.Table); is {
		return len(table.Alignments)
	}
	return 0
}

// isLazy reports whether a line of a paragraph lacks marks of the blocks around it.
func isLazy(parent ast.Node, line text.Segment, source []byte) bool {
	begin := bytes.LastIndexByte(source[:line.Start], '\n') + 1
	var within []ast.Node
	for n := parent; n != nil; n = n.Parent() {
		within = append(within, n)
	}
	marks := string(source[begin:line.Start])
	for _, n := range slices.Backward(within) {
		switch n := n.(type) {
		case *ast.Blockquote:
			_, behind, is := strings.Cut(marks, ">")
			if !is {
				return true
			}
			marks = strings.TrimPrefix(behind, " ")
		case *ast.ListItem:
			behind := strings.TrimLeft(marks, " \t")
			if !strings.Contains(marks[:len(marks)-len(behind)], "\t") && len(marks)-len(behind) < n.Offset {
				return true
			}
			marks = marks[min(n.Offset, len(marks)-len(behind)):]
		}
	}
	return false
}

func rowBlocks(parent ast.Node, lines []text.Segment, columns int, reader text.Reader) (blocks []ast.Node) {
	missing := 0
	for i, line := range lines {
		if missing > maxMissingCells || isLazy(parent, line, reader.Source()) {
			rest := ast.NewParagraph()
			rest.Lines().AppendAll(lines[i:])
			return append(blocks, rest)
		}
		cells := cellBlocks(line, columns, reader)
		missing += max(0, columns-len(cells))
		blocks = append(blocks, cells...)
	}
	return blocks
}

func cellBlocks(line text.Segment, columns int, reader text.Reader) (blocks []ast.Node) {
	source := reader.Source()
	line = line.TrimLeftSpace(source)
	line = line.TrimRightSpace(source)
	from := line.Start
	for at := from; at <= line.Stop; at++ {
		switch {
		case at == line.Stop && from == at, at < line.Stop && (source[at] != '|' || at > from && source[at-1] == '\\'):
			continue
		case at == line.Start: // the bar before the first cell
		case len(blocks) == columns:
			return append(blocks, &excessCells{region: region{from, line.Stop}})
		default:
			cell := ast.NewTextBlock()
			cell.Lines().Append(text.NewSegment(from, at))
			blocks = append(blocks, cell)
		}
		from = at + 1
	}
	return blocks
}
