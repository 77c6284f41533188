// Evaluates CEL expressions as kube-apiserver does, and prints one JSON object a line.
//
//	cel DIRECTORY-OF-cel.dev/expr DIRECTORY-OF-GO-TESTS... < EXPRESSIONS
//
// The expressions are those of the specification's tests, the Go tests and the lines of the input. See cases.go, and
// results.go for the fields of a line of the output.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: cel DIRECTORY-OF-cel.dev/expr DIRECTORY-OF-GO-TESTS...")
		os.Exit(2)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	for _, each := range allCases(os.Args[1], os.Args[2:], os.Stdin) {
		if line, is := safely(each); is {
			check(encoder.Encode(line))
		}
	}
}

// safely returns the result of a case. It reports false if cel-go panics, which is no result to compare with.
func safely(each testCase) (line result, is bool) {
	defer func() {
		if recover() != nil {
			is = false
		}
	}()
	return resultOf(each), true
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "cel:", err)
		os.Exit(1)
	}
}
