// Runs a health check as Argo CD does: LUA is a file with the body of a function that gets `obj` and returns a table.
// Reads objects in JSON from stdin, one on a line, and prints the status of each.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	lua "github.com/yuin/gopher-lua"
)

func main() {
	text, err := os.ReadFile(os.Args[1])
	check(err)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var object map[string]any
		check(json.Unmarshal(lines.Bytes(), &object))
		state := lua.NewState()
		state.SetGlobal("obj", value(state, object))
		check(state.DoString(string(text)))
		fmt.Println(state.Get(-1).(*lua.LTable).RawGetString("status").String())
		state.Close()
	}
}

func value(state *lua.LState, found any) lua.LValue {
	switch found := found.(type) {
	case map[string]any:
		table := state.NewTable()
		for key, each := range found {
			table.RawSetString(key, value(state, each))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, each := range found {
			table.Append(value(state, each))
		}
		return table
	case string:
		return lua.LString(found)
	case float64:
		return lua.LNumber(found)
	case bool:
		return lua.LBool(found)
	}
	return lua.LNil
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
