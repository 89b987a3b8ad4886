//go:build race

package clienttest

// withRace says that the race detector is on, which makes the callers several times slower.
const withRace = true
