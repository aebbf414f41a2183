package internal_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// house is the plan of the layers, against which code is checked.
type house struct {
	module  string
	layers  [][]string          // packages, lowest layer first: a package imports lower layers only
	pure    int                 // how many layers, from the lowest, have no clock, disk, network or goroutine
	tools   []string            // the packages on pure layers that need not be pure
	shut    map[string]int      // a package, and a lower layer that it may not import
	keepers map[string][]string // an import path with all below it, and the only packages that may import it
}

// impure names what a pure package may not touch: a package with all below it,
// and which of its names. None named means all of them.
var impure = map[string][]string{
	"crypto/rand":   nil,
	"log":           nil,
	"math/rand":     nil,
	"net":           nil,
	"net/netip":     {"-"},
	"net/url":       {"-"},
	"os":            nil,
	"path/filepath": {"Abs", "EvalSymlinks", "Glob", "Walk", "WalkDir"},
	"syscall":       nil,
	"time":          {"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"},
}

// inspect reads every Go file of tree but tests and says what is not as
// planned, one complaint a line.
func (h house) inspect(tree fs.FS) ([]string, error) {
	files, err := goFiles(tree)
	if err != nil {
		return nil, err
	}
	var found []string
	lived := map[string]bool{}
	for _, f := range files {
		lived[f.pkg] = true
		found = append(found, h.inspectFile(f)...)
	}
	for _, pkg := range slices.Concat(h.layers...) {
		if !lived[pkg] {
			found = append(found, fmt.Sprintf("package %s is in the plan and has no code", pkg))
		}
	}
	return append(found, h.strangers()...), nil
}

func (h house) inspectFile(f goFile) []string {
	here := h.layer(f.pkg)
	if here < 0 {
		return []string{fmt.Sprintf("%s: package %s is in no layer; give it one in internal/layers_test.go", f.name, f.pkg)}
	}
	var found []string
	for _, spec := range f.syntax.Imports {
		if why := h.refuse(f.pkg, importPath(spec)); why != "" {
			found = append(found, fmt.Sprintf("%s: %s may not import %s: %s", f.at(spec), f.pkg, importPath(spec), why))
		}
	}
	if here < h.pure && !slices.Contains(h.tools, f.pkg) {
		found = append(found, impurities(f)...)
	}
	return found
}

// refuse returns why package may not import p, or nothing.
func (h house) refuse(pkg, p string) string {
	ours := p == h.module || strings.HasPrefix(p, h.module+"/")
	if ours {
		if why := h.noWay(pkg, strings.TrimPrefix(p, h.module+"/")); why != "" {
			return why
		}
	}
	tool, packages := lookUp(h.keepers, p)
	host, _, _ := strings.Cut(p, "/")
	switch {
	case tool == "" && !ours && strings.Contains(host, "."):
		return "it has no owner; name its owner in internal/layers_test.go"
	case tool == "" || slices.Equal(packages, anyone) || slices.Contains(packages, pkg):
		return ""
	case len(packages) == 0:
		return "only tests may"
	default:
		return "only " + strings.Join(packages, ", ") + " may"
	}
}

// noWay returns why pkg may not import other, or nothing.
func (h house) noWay(pkg, other string) string {
	here, there := h.layer(pkg), h.layer(other)
	shut, some := h.shut[pkg]
	switch {
	case there < 0:
		return "it is on no layer"
	case there > here:
		return fmt.Sprintf("it is above: layer %d, from layer %d", there, here)
	case there == here && !strings.HasPrefix(other, pkg+"/"): // its own sub-package may be imported
		return "it is in the same layer"
	case some && there == shut:
		return fmt.Sprintf("layer %d is closed to it", there)
	default:
		return ""
	}
}

// strangers are owners without a layer.
func (h house) strangers() []string {
	var found []string
	for tool, packages := range h.keepers {
		for _, pkg := range packages {
			if pkg != anyone[0] && h.layer(pkg) < 0 {
				found = append(found, fmt.Sprintf("%s, an owner of %s, is on no layer", pkg, tool))
			}
		}
	}
	slices.Sort(found)
	return found
}

func (h house) layer(pkg string) int {
	return slices.IndexFunc(h.layers, func(packages []string) bool { return slices.Contains(packages, pkg) })
}

// impurities returns the places where f starts a goroutine or looks at the world.
func impurities(f goFile) []string {
	var found []string
	complain := func(n ast.Node, what string) {
		found = append(found, fmt.Sprintf("%s: %s is pure, and this %s", f.at(n), f.pkg, what))
	}
	packages := map[string]string{} // the name a package has in this file -> its path
	for _, spec := range f.syntax.Imports {
		p := importPath(spec)
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		packages[name] = p
		tool, names := lookUp(impure, p)
		switch {
		case tool != "" && names == nil:
			complain(spec, "imports "+p)
		case tool != "" && name == ".":
			complain(spec, "hides whose names are used")
		}
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			complain(n, "starts a goroutine")
		case *ast.SelectorExpr:
			x, plain := n.X.(*ast.Ident)
			if !plain {
				break
			}
			if _, names := lookUp(impure, packages[x.Name]); slices.Contains(names, n.Sel.Name) {
				complain(n, "uses "+packages[x.Name]+"."+n.Sel.Name)
			}
		}
		return true
	})
	return found
}

// lookUp finds the longest key that is p or stands above it.
func lookUp(table map[string][]string, p string) (key string, value []string) {
	for ; p != "." && p != "/"; p = path.Dir(p) {
		if value, ok := table[p]; ok {
			return p, value
		}
	}
	return "", nil
}

type goFile struct {
	name   string // from the root of the module
	pkg    string
	syntax *ast.File
	places *token.FileSet
}

func (f goFile) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.name, f.places.Position(n.Pos()).Line)
}

func goFiles(tree fs.FS) ([]goFile, error) {
	var files []goFile
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && foreign(name):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		places := token.NewFileSet()
		syntax, err := parser.ParseFile(places, name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, goFile{name: name, pkg: path.Dir(name), syntax: syntax, places: places})
		return nil
	})
	return files, err
}

// foreign folders hold Go files that are no part of the program.
func foreign(dir string) bool {
	base := path.Base(dir)
	return base == "testdata" || base == "node_modules" || len(base) > 1 && strings.ContainsAny(base[:1], "._")
}

func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value // the parser took it: it cannot be malformed
	}
	return p
}
