// Package bench measures this library beside others, on one server and in one run, so that the ratios mean something.
// It is a module of its own, for the others are nobody else's dependencies.
//
//	go test -run '^$' -bench ScriptTime ./...
package bench
