//go:build race

package redisengine_test

// tortureEase divides the rates: the race detector makes the callers several times slower.
const tortureEase = 2
