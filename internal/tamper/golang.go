package tamper

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// gopher reads a Go file.
type gopher struct {
	*page
	set   *token.FileSet
	file  *token.File
	words []word
	poses []token.Pos
}

func (p *page) readGo(src []byte) {
	set := token.NewFileSet()
	tree, _ := parser.ParseFile(set, "", src, parser.ParseComments|parser.SkipObjectResolution|parser.AllErrors) // a broken file has what could be read
	g := &gopher{page: p, set: set}
	g.scan(src)
	p.words = g.words
	if tree == nil {
		return
	}
	g.constraint(tree)
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			g.function(d)
		case *ast.GenDecl:
			g.general(d)
		}
	}
}

// scan makes words of the source; positions are the same as the parser's.
func (g *gopher) scan(src []byte) {
	set := token.NewFileSet()
	g.file = set.AddFile("", set.Base(), len(src))
	var s scanner.Scanner
	s.Init(g.file, src, func(token.Position, string) {}, scanner.ScanComments)
	last := 0
	for {
		pos, tok, lit := s.Scan()
		line := g.file.Line(pos)
		w := word{sign, tok.String(), line}
		switch {
		case tok == token.EOF:
			return
		case tok == token.COMMENT:
			g.remarks = append(g.remarks, remark{lit, line, line == last})
			continue
		case tok == token.SEMICOLON:
			continue
		case tok == token.IDENT:
			w = word{name, lit, line}
		case tok == token.INT || tok == token.FLOAT || tok == token.IMAG:
			w = word{number, lit, line}
		case tok == token.STRING || tok == token.CHAR:
			w = word{text, unquote(lit), line}
		case tok.IsKeyword():
			w = word{sign, tok.String(), line}
		}
		last = line
		g.words, g.poses = append(g.words, w), append(g.poses, pos)
	}
}

func unquote(lit string) string {
	if plain, err := strconv.Unquote(lit); err == nil {
		return plain
	}
	return strings.Trim(lit, "\"'`")
}

// of are the words of a part of the tree. Both file sets begin at 1.
func (g *gopher) of(n ast.Node) []word {
	if n == nil {
		return nil
	}
	from, _ := slices.BinarySearch(g.poses, n.Pos())
	to, _ := slices.BinarySearch(g.poses, n.End())
	return g.words[min(from, to):to]
}

func (g *gopher) line(pos token.Pos) int {
	if !pos.IsValid() {
		return 1
	}
	return g.set.Position(pos).Line
}

// constraint looks for what leaves the file out of the build.
func (g *gopher) constraint(tree *ast.File) {
	if !g.collects {
		return
	}
	for _, group := range tree.Comments {
		for _, c := range group.List {
			tag, is := strings.CutPrefix(c.Text, "//go:build ")
			if !is {
				tag, is = strings.CutPrefix(c.Text, "// +build ")
			}
			if tag = strings.TrimSpace(tag); is && c.Pos() < tree.Package && !usual[tag] {
				g.halts = append(g.halts, mark{g.line(c.Pos()), "built only for " + short(tag, 60)})
			}
		}
	}
	if on := platform(g.path); on != "" && !usual[on] {
		g.halts = append(g.halts, mark{1, "built only for " + on})
	}
}

var platforms = set("aix android darwin dragonfly freebsd illumos ios js linux netbsd openbsd plan9 solaris wasip1 windows amd64 arm arm64 386 wasm ppc64 ppc64le riscv64 s390x mips mips64")

// platform is what the name of a file binds it to.
func platform(path string) string {
	base := strings.TrimSuffix(strings.TrimSuffix(path[strings.LastIndex(path, "/")+1:], ".go"), "_test")
	if i := strings.LastIndex(base, "_"); i > 0 && platforms[base[i+1:]] {
		return base[i+1:]
	}
	return ""
}

// usual are the platforms that CI has anyway.
var usual = set("linux unix !windows amd64 go1.20 go1.21 go1.22 go1.23 go1.24 go1.25 go1.26")

func (g *gopher) general(d *ast.GenDecl) {
	if d.Tok == token.IMPORT {
		return
	}
	if g.collects && g.specs(d, "", nil) {
		return
	}
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			g.define(spec.Name.Name, nil, g.of(spec))
			g.members(spec)
		case *ast.ValueSpec:
			for _, n := range spec.Names {
				g.define(n.Name, nil, g.of(spec))
			}
		}
		g.outside = append(g.outside, g.of(spec)...)
	}
}

func (g *gopher) members(spec *ast.TypeSpec) {
	ast.Inspect(spec.Type, func(n ast.Node) bool {
		if f, is := n.(*ast.Field); is {
			for _, id := range f.Names {
				g.fields[id.Name] = true
			}
		}
		return true
	})
}

func (p *page) define(called string, head, body []word) {
	if called == "" || called == "_" {
		return
	}
	d := def{name: called, heads: []string{joined(head)}, body: slices.Clone(body), parts: []string{joined(body)}}
	if old, twice := p.defs[called]; twice {
		d = old.with(d)
	}
	p.defs[called] = d
}

func (g *gopher) function(d *ast.FuncDecl) {
	if d.Body == nil {
		return
	}
	if !strings.HasSuffix(g.path, "_test.go") {
		g.define(d.Name.Name, g.of(d.Type), g.of(d.Body))
	}
	t := &test{page: g.page, name: d.Name.Name, line: g.line(d.Pos()), end: g.line(d.End()), words: g.of(d.Body)}
	if d.Recv != nil && len(d.Recv.List) == 1 {
		t.group = joined(g.of(d.Recv.List[0].Type))
	}
	b := &goBody{gopher: g, test: t, in: tester(d.Type)}
	t.tester = b.in != ""
	b.walk(d.Body)
	switch {
	case g.collects && t.name == "init" && d.Recv == nil:
		g.initial(d)
		g.binds(d.Body)
		g.outside = append(g.outside, t.words...)
	case g.collects && t.name == "TestMain":
		b.main(d.Body)
		g.binds(d.Body)
		g.outside = append(g.outside, t.words...)
	case g.collects && runs(t.name, d):
		switch {
		case strings.HasPrefix(t.name, "Fuzz"):
			t.exits, t.skips = nil, nil // some inputs say nothing
		case strings.HasPrefix(t.name, "Example"):
			g.output(t)
		}
		g.tests = append(g.tests, t)
	case b.in != "" || len(t.checks) > 0:
		g.helpers = append(g.helpers, t)
	default:
		g.outside = append(g.outside, t.words...)
	}
}

// runs tells whether go test runs a function; a method may be of a suite.
func runs(called string, d *ast.FuncDecl) bool {
	for _, kind := range []string{"Test", "Fuzz", "Example"} {
		rest, is := strings.CutPrefix(called, kind)
		if is && (rest == "" || rest[0] < 'a' || rest[0] > 'z') {
			return d.Recv == nil || kind == "Test"
		}
	}
	return false
}

// tester is the name of the *testing.T that a function takes, or of its like.
func tester(f *ast.FuncType) string {
	for _, p := range f.Params.List {
		kind := p.Type
		if star, is := kind.(*ast.StarExpr); is {
			kind = star.X
		}
		sel, is := kind.(*ast.SelectorExpr)
		if !is || len(p.Names) == 0 {
			continue
		}
		switch sel.Sel.Name {
		case "T", "B", "F", "TB", "TestingT", "GinkgoTInterface":
			return p.Names[0].Name
		}
	}
	return ""
}

// main looks at a TestMain that ends as it likes. A branch of its own is for
// programs that the tests start.
func (b *goBody) main(body *ast.BlockStmt) {
	b.note(body, b.tells)
	runs, told := false, false
	ast.Inspect(body, func(n ast.Node) bool {
		if c, is := n.(*ast.CallExpr); is {
			on, called := b.method(c)
			runs = runs || on == "m" && called == "Run" || handsOver(c)
			told = told || on == "os" && called == "Exit" && len(c.Args) == 1 && !fixed(b.of(c.Args[0]))
		}
		return true
	})
	if !runs {
		b.halts = append(b.halts, mark{b.line(body.Pos()), "TestMain does not run the tests"})
	}
	for _, s := range body.List {
		if told {
			break
		}
		if x, is := s.(*ast.ExprStmt); is && joined(b.of(x)) == "os . Exit ( 0 )" {
			b.halts = append(b.halts, mark{b.line(x.Pos()), "TestMain ends with success whatever the tests say"})
		}
	}
}

// handsOver tells whether a call is given the *testing.M.
func handsOver(c *ast.CallExpr) bool {
	for _, arg := range c.Args {
		if id, is := arg.(*ast.Ident); is && id.Name == "m" {
			return true
		}
	}
	return false
}
