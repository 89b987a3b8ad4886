// Package sluice limits how often things happen, across every process that shares a store.
package sluice
