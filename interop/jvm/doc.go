// Package jvm runs Redisson: one Java process for each version of it, which takes commands on its standard input (../driver).
package jvm
