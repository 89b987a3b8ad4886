// Package interop proves that this library and Redisson share their limiters: real Redisson, in a Java process for each of its versions, against
// this library, on one Redis. It has nothing but tests, and is a module of its own.
//
// What either side does is told in testdata/*.txt, step by step; section_test.go says how to read them. The table in
// docs/from-redisson.md says what is shown for which version, and is held to these files.
//
// It needs a JDK and Maven; without them its tests are skipped, but not in CI.
package interop
