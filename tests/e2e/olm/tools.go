//go:build tools

// Package tools names the program that the tests build.
package tools

import _ "github.com/operator-framework/api/cmd/operator-verify"
