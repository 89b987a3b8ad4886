//go:build !race

package redisengine_test

// tortureEase divides the rates: not at all without the race detector.
const tortureEase = 1

// crowdSize is how many callers are a crowd.
const crowdSize = 10_000
