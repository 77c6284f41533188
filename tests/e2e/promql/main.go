// Command promql checks a rules file of Prometheus, and expressions: a JSON list of texts in another file.
package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

func main() {
	failed := false
	report := func(what string, err error) {
		failed = true
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
	}
	options := parser.NewParser(parser.Options{})
	if _, errs := rulefmt.ParseFile(os.Args[1], false, model.UTF8Validation, options, slog.Default()); len(errs) > 0 {
		for _, err := range errs {
			report(os.Args[1], err)
		}
	}
	content, err := os.ReadFile(os.Args[2])
	if err != nil {
		report(os.Args[2], err)
	}
	var expressions []string
	if err := json.Unmarshal(content, &expressions); err != nil {
		report(os.Args[2], err)
	}
	for _, each := range expressions {
		if _, err := options.ParseExpr(each); err != nil {
			report(each, err)
		}
	}
	if failed {
		os.Exit(1)
	}
	fmt.Println(len(expressions))
}
