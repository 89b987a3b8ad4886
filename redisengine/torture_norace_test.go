//go:build !race

package redisengine_test

// tortureEase divides the rates: not at all without the race detector.
const tortureEase = 1
