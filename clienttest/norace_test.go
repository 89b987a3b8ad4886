//go:build !race

package clienttest

// withRace says that the race detector is on.
const withRace = false
