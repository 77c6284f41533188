package main

import (
	"bufio"
	goast "go/ast"
	goparser "go/parser"
	gotoken "go/token"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	_ "cel.dev/expr/conformance/proto2"
	_ "cel.dev/expr/conformance/proto3"
	testpb "cel.dev/expr/conformance/test"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"google.golang.org/protobuf/encoding/prototext"
)

// testCase is one expression with its variables. A variable without a value has none in the evaluation.
type testCase struct {
	expression string
	variables  map[string]*cel.Type
	bindings   map[string]any
}

// samples are values of variables whose tests declare them in Go code, chosen by the variable's name.
var samples = []any{
	int64(3), "word", true, 2.5,
	[]any{int64(1), int64(2), int64(3)}, []any{"a", "b"},
	map[string]any{"a": int64(1), "b": "x", "name": []any{"n"}},
}

// allCases returns the cases of all sources, each expression once, in a stable order.
func allCases(specification string, goTests []string, lines io.Reader) []testCase {
	seen := map[string]bool{}
	var found []testCase
	add := func(each testCase) {
		if !seen[each.expression] && strings.TrimSpace(each.expression) != "" {
			seen[each.expression] = true
			found = append(found, each)
		}
	}
	files, err := filepath.Glob(filepath.Join(specification, "tests", "simple", "testdata", "*.textproto"))
	check(err)
	sort.Strings(files)
	for _, file := range files {
		for _, each := range specifiedCases(file) {
			add(each)
		}
	}
	for _, directory := range goTests {
		check(filepath.WalkDir(directory, func(path string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, "_test.go") {
				for _, text := range literals(path) {
					if variables, is := freeNames(text); is {
						add(sampleCase(text, variables))
					}
				}
			}
			return err
		}))
	}
	for scanner := bufio.NewScanner(lines); scanner.Scan(); {
		variables, _ := freeNames(scanner.Text())
		add(sampleCase(scanner.Text(), variables))
	}
	return found
}

// specifiedCases returns the cases of a file of the specification.
func specifiedCases(path string) []testCase {
	text, err := os.ReadFile(path)
	check(err)
	file := &testpb.SimpleTestFile{}
	check(prototext.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(text, file))
	var found []testCase
	for _, section := range file.GetSection() {
		for _, test := range section.GetTest() {
			each := testCase{test.GetExpr(), map[string]*cel.Type{}, map[string]any{}}
			for _, declaration := range test.GetTypeEnv() {
				if ident := declaration.GetIdent(); ident != nil && isName(declaration.GetName()) {
					if kind, err := types.ProtoAsType(ident.GetType()); err == nil && isPlain(kind) {
						each.variables[declaration.GetName()] = kind
					}
				}
			}
			for name, bound := range test.GetBindings() {
				if each.variables[name] == nil || bound.GetValue() == nil {
					continue
				}
				if value, err := cel.ProtoAsValue(types.DefaultTypeAdapter, bound.GetValue()); err == nil {
					if native, is := plain(value); is {
						each.bindings[name] = native
					}
				}
			}
			if len(each.bindings) == len(each.variables) {
				found = append(found, each)
			}
		}
	}
	return found
}

// literals returns the string literals of a Go file.
func literals(path string) []string {
	parsed, err := goparser.ParseFile(gotoken.NewFileSet(), path, nil, 0)
	check(err)
	var found []string
	goast.Inspect(parsed, func(node goast.Node) bool {
		if literal, is := node.(*goast.BasicLit); is && literal.Kind == gotoken.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				found = append(found, text)
			}
		}
		return true
	})
	return found
}

// freeNames returns the names of an expression that are no variables of its macros. It reports false for texts that
// are no expressions: they do not parse, or consist of a name or a constant.
func freeNames(text string) ([]string, bool) {
	parsed, issues := kubernetes.Parse(text)
	if issues.Err() != nil {
		return nil, false
	}
	root := parsed.NativeRep().Expr()
	if root.Kind() == ast.IdentKind || root.Kind() == ast.LiteralKind {
		return nil, false
	}
	bound, names := map[string]bool{}, map[string]bool{}
	ast.PostOrderVisit(root, ast.NewExprVisitor(func(each ast.Expr) {
		switch each.Kind() {
		case ast.ComprehensionKind:
			loop := each.AsComprehension()
			bound[loop.IterVar()], bound[loop.IterVar2()], bound[loop.AccuVar()] = true, true, true
		case ast.IdentKind:
			names[each.AsIdent()] = true
		}
	}))
	var free []string
	for name := range names {
		if !bound[name] && isName(name) && !isKnown(name) {
			free = append(free, name)
		}
	}
	sort.Strings(free)
	return free, true
}

// sampleCase returns a case with values for the variables.
func sampleCase(text string, variables []string) testCase {
	each := testCase{text, map[string]*cel.Type{}, map[string]any{}}
	for _, name := range variables {
		hash := fnv.New32a()
		hash.Write([]byte(name))
		each.variables[name] = cel.DynType
		each.bindings[name] = samples[int(hash.Sum32())%len(samples)]
	}
	return each
}

// isKnown reports whether an expression can use the name without a declaration: names of types.
func isKnown(name string) bool {
	_, issues := kubernetes.Compile(name)
	return issues.Err() == nil
}

func isName(name string) bool {
	return name != "" && !strings.ContainsAny(name, ".@")
}

// isPlain reports whether the values of a type can be JSON.
func isPlain(kind *cel.Type) bool {
	switch kind.Kind() {
	case types.BoolKind, types.IntKind, types.DoubleKind, types.StringKind, types.DynKind, types.NullTypeKind:
		return true
	case types.ListKind, types.MapKind:
		for _, each := range kind.Parameters() {
			if !isPlain(each) {
				return false
			}
		}
		return true
	}
	return false
}

// plain returns the JSON value of a CEL value, if that has one of the same type.
func plain(value ref.Val) (any, bool) {
	switch value := value.(type) {
	case types.Bool:
		return bool(value), true
	case types.Int:
		return int64(value), true
	case types.Double:
		return float64(value), float64(value) != float64(int64(value))
	case types.String:
		return string(value), true
	}
	return nil, false
}
