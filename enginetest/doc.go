// Package enginetest is the suite that every engine passes, alone or stacked on another.
//
// Most of it is scenarios: text files in testdata, each of which begins with the symptom that it guards against. A
// scenario is a list of commands, one a line, with the answer behind the arrow or, if it has several lines, indented below:
//
//	# What this shows, and what is right.
//	rate 10/1s                      => stored
//	take 4 as=a                     => granted, 6 left
//	at 500ms
//	take 7                          => refused, retry in 500ms, 6 left
//	ledger
//	    @0 4 a
//
// The store's clock starts at 0 and moves only when a command says so. Times in answers are counted from the start, in
// milliseconds. Receipts go by their labels. The flag -enginetest.update writes the answers of the engine at hand into the
// files; read the diff as a reviewer would.
//
// # Commands
//
// Durations are as in Go. Every command takes client=NAME, which says whose limiter asks; the default is "self".
//
//	rate 10/1s [mode=client] [keepalive=1m]     TrySetRate; set and update likewise
//	take N [as=LABEL] [reset]                   TryAcquire; reset shows ResetAfter
//	wait N PATIENCE [as=LABEL] [reset]          a take with patience, as Acquire sends it: its date can move
//	reserve N PATIENCE [as=LABEL] [reset]       Reserve: its date is firm
//	batch N N:PATIENCE ... [as=LABEL]           takes in one call of the engine; labels get 1, 2, … appended
//	resend LABEL                                the same take once more, as a client library does that had no reply
//	poll N every=10ms for=1s [clients=a,b]      takes again and again, which moves the clock
//	refund LABEL [N] [as=LABEL]                 Refund, RefundN; as names what is left
//	cancel LABEL                                Reservation.Cancel
//	release N                                   Release
//	look LABEL ...                              Engine.Look
//	available, ledger, config, exists, ttl      reads; ttl is rounded to ten seconds
//	expire 1m, persist, delete, rename NAME     upkeep
//	limiter NAME                                which limiter the commands after it mean; the first is "x"
//	skew CLIENT 1h                              how far a client's own clock is ahead of the store's
//	at 1s, sleep 1s, clock -1h                  move the clock: to a moment, on, or by a step that no key's TTL sees
//
// Those below need an engine that keeps its state in Redis; a scenario that uses one runs on no other.
//
//	keys                                        all keys with what is in them, and TTLs rounded to ten seconds
//	lose value|ledger|config                    the key is gone, as by eviction
//	put value|ledger|config TEXT                it is a string with this text
//	hset FIELD VALUE ..., hdel FIELD ...        edits of the configuration
//	foreign N [at=+1h] [size=21] [as=LABEL]     a grant that a Java peer takes, dated by its own clock
//	member HEX at=+1h                           an entry of the ledger with these bytes
//
// # What is checked besides
//
// On an engine with keys the suite reads them after each step and compares: the value and all permits of the ledger make the
// rate (law 2), and a step that was refused or only read has written nothing (law 3).
package enginetest
