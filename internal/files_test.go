package internal_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

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
