package oracle_test

import (
	"testing"

	"github.com/sluice-rate/sluice/internal/oracle"
)

func TestOnce(t *testing.T) {
	t.Parallel()
	run(t, []verdictCase{{
		name: "a returned permit was never used",
		text: `
			change at=0 rate=2 interval=100000
			grant arrived=1 at=1 n=2 id=a
			return at=20 id=a n=1
			grant arrived=30 at=30 n=1 id=b`,
	}, {
		name: "granted twice",
		text: `
			change at=0 rate=2 interval=100000
			grant arrived=1 at=1 n=1 id=a
			grant arrived=2 at=2 n=1 id=a`,
		want: "6@2",
	}, {
		name: "given back twice, in parts",
		text: `
			change at=0 rate=2 interval=100000
			grant arrived=1 at=1 n=2 id=a
			return at=20 id=a n=1
			return at=21 id=a n=2`,
		want: "6@21",
	}, {
		name: "given back without a grant, and before it",
		text: `
			change at=0 rate=2 interval=100000
			grant arrived=10 at=10 n=2 id=a
			return at=9 id=a n=1
			return at=20 id=b n=1`,
		want: "6@9 6@20",
	}})
}

func TestConserving(t *testing.T) {
	t.Parallel()
	run(t, []verdictCase{{
		name: "a release takes the oldest, from then on",
		text: `
			change at=0 rate=2 interval=100000
			grant arrived=1000 at=1000 n=1
			grant arrived=2000 at=2000 n=1
			release at=3000 n=1
			grant arrived=3000 at=3000 n=1
			grant arrived=101000 at=101000 n=1
			grant arrived=103000 at=103000 n=1`,
		want: "1@101000 1@101000",
	}, {
		name: "before the release its permits were used",
		text: `
			change at=0 rate=1 interval=100000
			grant arrived=1000 at=1000 n=1
			grant arrived=2999 at=2999 n=1
			release at=3000 n=1`,
		want: "1@2999 1@2999",
	}, {
		name: "a release takes nothing from waiters or from out of the window",
		text: `
			change at=0 rate=3 interval=10000
			grant arrived=1000 at=1000 n=1
			grant arrived=5000 at=5000 n=1
			grant arrived=6000 at=13000 n=1
			release at=11000 n=2`,
		want: "2@11000",
	}, {
		name: "a release within the millisecond of a rounded date",
		text: `
			change at=0 rate=1 interval=10000
			grant arrived=1100 at=2000 n=1 atonce=true
			release at=1500 n=1
			grant arrived=1600 at=2000 n=1 atonce=true`,
	}, {
		name: "claims that are right: free, queued, after all has left",
		text: `
			change at=0 rate=2 interval=10000
			grant arrived=1000 at=1000 n=1
			claim at=999 free=2
			claim at=1000 free=1
			grant arrived=2000 at=11000 n=2
			claim at=2000 free=-1
			claim at=11000 free=0
			claim at=21000 free=2`,
	}, {
		name: "a minted and a lost permit",
		text: `
			change at=0 rate=2 interval=10000
			grant arrived=1000 at=1000 n=1
			claim at=1001 free=2
			claim at=1002 free=0`,
		want: "2@1001 2@1002",
	}, {
		name: "a store that rounds now down still counts what has just left",
		text: `
			change at=0 rate=2 interval=10000
			grant arrived=500 at=1200 n=1
			claim at=11199 free=1
			claim at=11200 free=1
			claim at=11999 free=2
			claim at=12000 free=1`,
		want: "2@12000",
	}, {
		name: "a merged grant stays longer", params: oracle.Params{Merge: 3000},
		text: `
			change at=0 rate=2 interval=10000
			grant arrived=1000 at=1000 n=1
			grant arrived=4000 at=4000 n=1
			claim at=13000 free=0
			release at=13500 n=2
			claim at=14000 free=1`,
		want: "2@14000",
	}, {
		name: "a longer interval may or may not find what had left",
		text: `
			change at=0 rate=2 interval=10000
			change at=20000 rate=2 interval=100000
			grant arrived=1000 at=1000 n=1
			claim at=20000 free=1
			claim at=30000 free=2
			claim at=101000 free=1`,
		want: "2@101000",
	}})
}
