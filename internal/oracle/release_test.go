package oracle_test

import (
	"math/rand/v2"
	"testing"

	"github.com/sluice-rate/sluice/internal/oracle"
)

func TestReleaseOfTheGrantBeforeAWaiterWhoseDateThenCameNearer(t *testing.T) {
	t.Parallel()
	run(t, []verdictCase{{
		name: "the waiter comes back by its receipt",
		text: `
			change at=0 rate=4 interval=10000
			grant arrived=171 at=1000 n=2
			grant arrived=203 at=386 n=3 id=waiter
			release at=327 n=2
			return at=448 id=waiter n=3
			grant arrived=665 at=1000 n=4`,
	}, {
		name: "the waiter leaves the window before the other would have",
		text: `
			change at=0 rate=3 interval=10000
			grant arrived=171 at=1000 n=2 atonce=true
			grant arrived=203 at=386 n=3
			release at=327 n=2
			grant arrived=665 at=10386 n=3`,
	}, {
		name: "and not earlier than that",
		text: `
			change at=0 rate=3 interval=10000
			grant arrived=171 at=1000 n=2 atonce=true
			grant arrived=203 at=386 n=3
			release at=327 n=2
			grant arrived=665 at=10385 n=1`,
		want: "1@10385 1@10385",
	}, {
		name: "with the other coming back, the waiter was taken from",
		text: `
			change at=0 rate=4 interval=10000
			grant arrived=171 at=1000 n=2 id=other
			grant arrived=203 at=386 n=2
			release at=327 n=2
			return at=448 id=other n=2
			grant arrived=665 at=1000 n=4`,
	}, {
		name: "the other comes back in part: what it kept was taken first",
		text: `
			change at=0 rate=5 interval=10000
			grant arrived=171 at=1000 n=2 id=other
			grant arrived=203 at=386 n=3
			release at=327 n=2
			return at=448 id=other n=1
			grant arrived=665 at=10386 n=5`,
	}, {
		name: "whichever was taken, the store may count the one that is left, and no more or less",
		text: `
			change at=0 rate=4 interval=10500
			grant arrived=171 at=1000 n=2
			grant arrived=203 at=386 n=2
			release at=327 n=2
			claim at=10500 free=2
			claim at=11000 free=2
			claim at=11000 free=4
			claim at=11000 free=1
			claim at=11000 free=5
			claim at=12000 free=3`,
		want: "2@11000 2@11000 2@12000",
	}, {
		name: "what was given back of both is given back once",
		text: `
			change at=0 rate=5 interval=10000
			grant arrived=171 at=1000 n=2 id=other
			grant arrived=203 at=386 n=3 id=waiter
			release at=327 n=2
			return at=448 id=other n=2
			return at=449 id=waiter n=1
			grant arrived=665 at=1000 n=5
			grant arrived=700 at=1000 n=1`,
		want: "1@1000 1@1000",
	}})
}

func TestReleaseOfOneOfTwoThatArrivedAtOneMoment(t *testing.T) {
	t.Parallel()
	const pair = `
		change at=0 rate=4 interval=10000
		grant arrived=100 at=1000 n=2 id=a
		grant arrived=100 at=1000 n=2 id=b
		release at=1500 n=2
		`
	run(t, []verdictCase{{
		name: "one comes back",
		text: pair + `
			return at=1600 id=a n=2
			claim at=1700 free=4
			grant arrived=1800 at=2000 n=4`,
	}, {
		name: "or the other",
		text: pair + `
			return at=1600 id=b n=2
			claim at=1700 free=4
			grant arrived=1800 at=2000 n=4`,
	}, {
		name: "or a half of each",
		text: pair + `
			return at=1600 id=a n=1
			return at=1600 id=b n=1
			claim at=1700 free=4
			grant arrived=1800 at=2000 n=4`,
	}, {
		name: "or both, but for one permit that was taken with the two of a third",
		text: `
			change at=0 rate=6 interval=10000
			grant arrived=100 at=1000 n=2 id=a
			grant arrived=100 at=1000 n=2 id=b
			grant arrived=100 at=1000 n=2 id=c
			release at=1500 n=3
			return at=1600 id=a n=2
			return at=1600 id=b n=1
			claim at=1700 free=6
			grant arrived=1800 at=2000 n=6`,
	}, {
		name: "but not both",
		text: pair + `
			return at=1600 id=a n=2
			return at=1600 id=b n=2
			claim at=1700 free=6`,
		want: "2@1700",
	}})
}

func TestReleaseOfWhatWasLeavingDoesNotUndoACancel(t *testing.T) {
	t.Parallel()
	const line = `
		change at=0 rate=2 interval=10000
		grant arrived=1 at=500 n=1
		grant arrived=1200 at=2000 n=1
		grant arrived=3000 at=12000 n=2 id=waiter
		release at=10800 n=1
		release at=11500 n=1
		`
	run(t, []verdictCase{{
		name: "the store rounds down, so the first release took what had just left",
		text: line + `
			return at=11600 id=waiter n=2
			grant arrived=11700 at=12000 n=1 atonce=true`,
	}, {
		name: "a waiter who stays in part is passed",
		text: line + `
			return at=11600 id=waiter n=1
			grant arrived=11700 at=12000 n=1 atonce=true`,
		want: "5@11700",
	}})
}

func TestRightHistoriesOfMillisecondsPass(t *testing.T) {
	t.Parallel()
	var total oracle.Stats
	seeds(t, 10_000, func(t *testing.T, rng *rand.Rand) {
		y := story{steps: 40, round: true, changes: true, returns: true, claims: true, short: true, twins: rng.IntN(2) == 0}
		h := y.tell(rng)
		r := oracle.Judge(h)
		if r.Count() > 0 {
			t.Errorf("Judge of %+v: %v", y, r)
			oracle.Write(t.Output(), h.Events()...)
		}
		total.Grants += r.Stats.Grants
		total.Returned += r.Stats.Returned
		total.Released += r.Stats.Released
	})
	t.Logf("%d grants, %d permits returned, %d released", total.Grants, total.Returned, total.Released)
}
