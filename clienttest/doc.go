// Package clienttest proves that redisengine takes the clients of others as they are: go-redis' and rueidis', on one server
// and on a cluster. It has nothing but tests, and is a module of its own so that nobody else depends on those clients.
package clienttest
