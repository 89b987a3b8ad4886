// Package redistest gives tests a real Redis of their own: [Start] runs a
// redis-server on a free loopback port in a directory of the test, [StartCluster]
// runs several as a cluster, [StartSentinels] a master with replicas that sentinels
// watch, and [Conn] talks to them without a Redis library, so that the root module
// keeps requiring nothing.
//
// A server ends with the test that started it, and on Linux also when the test
// process dies without cleaning up (a timeout, a panic, os.Exit). A server that
// somebody else started is never used.
//
// The binary is the one that the environment variable SLUICE_REDIS_SERVER names,
// else redis-server from PATH; a test that wants a certain version asks a [Release].
// It must be the server itself or a script that execs it: it is stopped by process
// id. Where there is none the test is skipped, or fails if CI=true. Redis 6.2 and
// newer and Valkey will do; clusters and sentinels need 7.0.
package redistest
