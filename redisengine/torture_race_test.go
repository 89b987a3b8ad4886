//go:build race

package redisengine_test

// tortureEase divides the rates: the race detector makes the callers several times slower.
const tortureEase = 2

// crowdSize is lower than without: the race detector knows 8,128 goroutines.
const crowdSize = 5_000
