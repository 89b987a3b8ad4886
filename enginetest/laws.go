package enginetest

import "testing"

// laws are the tests of the nine laws that a scenario cannot show: those in numbers, at random or in real time.
func (h Harness) laws(t *testing.T) {
	for _, law := range []struct {
		name string
		test func(h Harness, t *testing.T)
	}{
		{"1 2 5 6 hold in a random history", Harness.history},
		{"3 a refusal leaves no trace", Harness.noTrace},
		{"4 alive from any state", Harness.alive},
		{"4 many dates that cannot be (P5c)", Harness.manyAhead},
		{"7 bounded", Harness.bounded},
		{"7 a release from a long ledger is quick (P2c, P18)", Harness.releaseFromMany},
		{"7 a long ledger of a peer (P18)", longLedger(21)},
		{"7 a long ledger of a peer of 3.17 to 3.20", longLedger(13)},
		{"8 a keep-alive leaves nothing (P4)", Harness.leavesNothing},
		{"8 ledgers of clients go by themselves (P8b)", Harness.clientsLeave},
		{"1 8 an expiry in a window (P11)", Harness.expiryInWindow},
		{"9 one trip a decision", Harness.oneTrip},
		{"4 a look under a lower limit ends", Harness.inlineLowered},
		{"7 what an inline limit stores is bounded", Harness.inlineBounded},
		{"9 one trip a call with charges", Harness.inlineTrips},
		{"several limiters in one call", Harness.severalLimiters},
	} {
		t.Run(law.name, func(t *testing.T) {
			t.Parallel()
			law.test(h, t)
		})
	}
}
