package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
)

// proof is what an independent reader should find in a table.
type proof struct {
	Table    string `json:"table"`
	Snapshot int64  `json:"snapshot,omitempty"`
	Rows     *int64 `json:"rows,omitempty"`
	DVs      *int64 `json:"dvs,omitempty"`
	Version  int    `json:"version,omitempty"`
}

type claim struct {
	Step    string  `json:"step,omitempty"`
	Count   string  `json:"count,omitempty"`
	Rows    *int64  `json:"rows,omitempty"`
	Result  string  `json:"result,omitempty"`
	Message string  `json:"message,omitempty"`
	Proofs  []proof `json:"proofs,omitempty"`
}

// step claims that body works, or says why it does not.
func step(name string, body func() []proof) {
	write(attempt(claim{Step: name, Result: "pass"}, "fail", body))
}

// absent is a step that this client refuses by itself.
func absent(name string, body func() []proof) {
	write(attempt(claim{Step: name, Result: "pass"}, "absent", body))
}

// fault is a step that this client does wrongly; when body finds it right, that is claimed instead.
func fault(name string, body func() []proof) {
	write(attempt(claim{Step: name, Result: "pass"}, "fault", body))
}

func attempt(c claim, otherwise string, body func() []proof) (done claim) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n%s\n", c.Step, r, debug.Stack())
			c.Result, c.Message, c.Proofs = otherwise, fmt.Sprint(r), nil
			done = c
		}
	}()
	c.Proofs = body()
	return c
}

// count claims the rows of a history, or says why they could not be counted.
func count(history string, rows func() int64) {
	var found *int64
	c := attempt(claim{Count: history}, "", func() []proof {
		n := rows()
		found = &n
		return nil
	})
	c.Rows = found
	write(c)
}

func write(c claim) {
	file, err := os.OpenFile(os.Getenv("CLAIMS"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	check(err)
	defer file.Close()
	check(json.NewEncoder(file).Encode(c))
}

// check ends the step with err.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// must is the value, or ends the step.
func must[T any](value T, err error) T {
	check(err)
	return value
}

// same ends the step unless both are equal.
func same[T comparable](found, expected T) {
	if found != expected {
		panic(fmt.Sprintf("expected %v, found %v", expected, found))
	}
}
