// Package archtest holds the table of who may import whom, and a test that reads every file of the repository and
// fails, with the reason, where the code differs from it. ARCHITECTURE.md explains the table.
package archtest
