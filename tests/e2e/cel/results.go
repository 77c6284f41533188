package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

// kubernetes is the environment of rules of Kubernetes 1.36.
var kubernetes = environment.MustBaseEnvSet(version.MajorMinor(1, 36)).NewExpressionsEnv()

// result is one line of the output.
type result struct {
	Expression string            `json:"expression"`
	Variables  map[string]string `json:"variables"`
	Bindings   map[string]any    `json:"bindings"`
	// Invalid: messages of the compiler. The other fields are empty then.
	Invalid string `json:"invalid"`
	// Type of the expression; Minimum and Maximum: its estimated costs.
	Type    string `json:"type"`
	Minimum string `json:"minimum"`
	Maximum string `json:"maximum"`
	// Value in the notation of valueOf, or Failure: the error of the evaluation.
	Value   any    `json:"value"`
	Failure string `json:"failure"`
	// Cost of the evaluation, also of a failed one; -1 if it is not known.
	Cost int64 `json:"cost"`
}

func resultOf(each testCase) result {
	line := result{Expression: each.expression, Variables: map[string]string{}, Bindings: each.bindings, Cost: -1}
	var declarations []cel.EnvOption
	for name, kind := range each.variables {
		line.Variables[name] = kind.String()
		declarations = append(declarations, cel.Variable(name, kind))
	}
	env, err := kubernetes.Extend(declarations...)
	check(err)
	compiled, issues := env.Compile(each.expression)
	if issues.Err() != nil {
		line.Invalid = issues.String()
		return line
	}
	line.Type = cel.FormatCELType(compiled.OutputType())
	estimator := &library.CostEstimator{}
	estimate, err := env.EstimateCost(compiled, estimator)
	check(err)
	line.Minimum, line.Maximum = strconv.FormatUint(estimate.Min, 10), strconv.FormatUint(estimate.Max, 10)
	program, err := env.Program(compiled, cel.CostTracking(estimator))
	if err != nil {
		line.Failure = "program: " + err.Error()
		return line
	}
	bindings := map[string]any{}
	for name, value := range each.bindings {
		bindings[name] = types.DefaultTypeAdapter.NativeToValue(value)
	}
	value, details, err := program.Eval(bindings)
	if details != nil && details.ActualCost() != nil {
		line.Cost = int64(*details.ActualCost())
	}
	// The order of maps is random, and a loop ends early: such a cost is none to compare with.
	for range 5 {
		if _, again, _ := program.Eval(bindings); again != nil && again.ActualCost() != nil && int64(*again.ActualCost()) != line.Cost {
			line.Cost = -1
			break
		}
	}
	if err != nil {
		line.Failure = err.Error()
	} else {
		line.Value = valueOf(value)
	}
	return line
}

// valueOf returns a value as a list of its type and its content. Entries of maps are in the order of their JSON.
func valueOf(value ref.Val) any {
	name := value.Type().TypeName()
	switch value := value.(type) {
	case types.Null:
		return []any{"null"}
	case types.Bool:
		return []any{name, bool(value)}
	case types.Int:
		return []any{name, strconv.FormatInt(int64(value), 10)}
	case types.Uint:
		return []any{name, strconv.FormatUint(uint64(value), 10)}
	case types.Double:
		return []any{name, strconv.FormatFloat(float64(value), 'g', -1, 64)}
	case types.String:
		return []any{name, string(value)}
	case types.Bytes:
		return []any{name, base64.StdEncoding.EncodeToString(value)}
	case types.Timestamp:
		return []any{name, fmt.Sprint(value.Unix(), " ", value.Nanosecond())}
	case types.Duration:
		return []any{name, strconv.FormatInt(value.Nanoseconds(), 10)}
	case *types.Optional:
		if !value.HasValue() {
			return []any{"optional"}
		}
		return []any{"optional", valueOf(value.GetValue())}
	case *types.Type:
		return []any{"type", value.TypeName()}
	case traits.Mapper:
		entries := [][]any{}
		for each := value.Iterator(); each.HasNext() == types.True; {
			key := each.Next()
			entries = append(entries, []any{valueOf(key), valueOf(value.Get(key))})
		}
		sort.Slice(entries, func(i, j int) bool { return text(entries[i]) < text(entries[j]) })
		return []any{"map", entries}
	case traits.Lister:
		items := []any{}
		for each := value.Iterator(); each.HasNext() == types.True; {
			items = append(items, valueOf(each.Next()))
		}
		return []any{"list", items}
	}
	return []any{name}
}

func text(value any) string {
	encoded, err := json.Marshal(value)
	check(err)
	return string(encoded)
}
