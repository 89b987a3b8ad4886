package survey

import (
	"fmt"
	"time"

	"github.com/sluice-rate/sluice"
)

// kindProblems are those of keys of a wrong type.
func (p *Pair) kindProblems() (all []Problem) {
	if p.ValueKind != kindNone && p.ValueKind != kindString {
		all = append(all, Problem{
			fmt.Sprintf("the value %s is a %s, not a string", Shown(p.ValueKey), p.ValueKind),
			"Redisson's calls fail",
			"the next take of this library drops it and counts the ledger",
		})
	}
	if p.LedgerKind != kindNone && p.LedgerKind != kindZset {
		all = append(all, Problem{
			fmt.Sprintf("the ledger %s is a %s, not a sorted set", Shown(p.LedgerKey), p.LedgerKind),
			"nobody knows what is in use, and Redisson's calls fail",
			"the next take of this library drops it and begins anew",
		})
	}
	return all
}

// valueProblems are those of a value and a ledger that do not go together.
func (p *Pair) valueProblems(l *Limiter) []Problem {
	rate, entries := l.Stored.Config.Rate.Permits, p.entries()
	value, known := p.known()
	key := "the value " + Shown(p.ValueKey)
	left := rate - p.all
	switch {
	case p.ValueKind == kindNone && entries == 0, p.ValueKind != kindNone && p.ValueKind != kindString, p.LedgerKind != kindNone && p.LedgerKind != kindZset:
		return nil // never used, or said already
	case p.ValueKind == kindNone:
		return []Problem{{
			fmt.Sprintf("%s is lost, though the ledger holds %s", key, count(entries, "entry", "entries")),
			"Redisson takes it for a limiter that nobody has used and grants the whole rate once more",
			"the next take of this library counts it from the ledger",
		}}
	case !known:
		return []Problem{{
			fmt.Sprintf("%s is %s, not a whole number", key, quote(p.Value)),
			"Redisson's calls fail",
			"the next take of this library counts it from the ledger",
		}}
	case entries == 0 && value < rate:
		return []Problem{p.lostLedger(l, value)}
	case !p.steady || value == left:
		return nil
	}
	problem := Problem{
		fmt.Sprintf("%s is %d, but the ledger leaves %d of %d: it disagrees by %d", key, value, left, rate, max(value-left, left-value)),
		fmt.Sprintf("up to %s too many are granted", count(value-left, "permit", "permits")),
		"the first take of a process of this library counts it anew, and any take does within an interval",
	}
	if value < left {
		problem.Means = fmt.Sprintf("%s cannot be had", count(left-value, "permit", "permits"))
	}
	if p.Client != "" {
		problem.Means += "; a change of the rate leaves that behind until the client's next take"
	} else {
		problem.Means += "; Redisson's release, a call that was sent twice or an edit by hand leaves that behind"
	}
	if value > rate {
		problem.Do = "the next take of this library counts it anew"
	}
	return []Problem{problem}
}

// lostLedger is a value that says that permits are in use, without a ledger that says which.
func (p *Pair) lostLedger(l *Limiter, value int64) Problem {
	rate := l.Stored.Config.Rate
	problem := Problem{
		fmt.Sprintf("the ledger %s is lost, though the value says that %s of %d are in use", Shown(p.LedgerKey), count(rate.Permits-value, "permit", "permits"), rate.Permits),
		"nobody knows when they come back, and every call of Redisson that finds too few fails for good",
		"the next take of this library counts them as free",
	}
	if l.Stored.TTL == 0 && !l.Stored.fields[3].set && p.ValueTTL > 0 && p.ValueTTL <= rate.Interval {
		problem.Means += fmt.Sprintf("; or a Redisson of 3.13.2 or older wrote it, which has no ledger and a value that lives for a window (%s more), and cannot share a limiter", span(p.ValueTTL))
	}
	return problem
}

// entries is how many entries the ledger has, with those that have left the window.
func (p *Pair) entries() (n int64) {
	for _, some := range p.formats {
		n += some
	}
	return n
}

// slack is how far times to live may differ that are meant to be the same: older servers read the clock for each.
const slack = 50 * time.Millisecond

// lifeProblems are those of keys that go before or after those with which they belong.
func (p *Pair) lifeProblems(l *Limiter) []Problem {
	value, ledger := p.ValueKind == kindString, p.LedgerKind == kindZset
	life, whose := p.ValueTTL, "the value "+Shown(p.ValueKey)+" lives"
	switch {
	case value && ledger && (p.ValueTTL == 0) != (p.LedgerTTL == 0), value && ledger && (p.ValueTTL-p.LedgerTTL).Abs() > slack:
		return []Problem{p.unequalLives(l)}
	case ledger && value:
		whose = fmt.Sprintf("the value and the ledger %s live", Shown(p.LedgerKey))
	case ledger:
		life, whose = p.LedgerTTL, "the ledger "+Shown(p.LedgerKey)+" lives"
	case !value:
		return nil
	}
	config := l.Stored.TTL
	remaining := time.Duration(p.leaves-floor(l.At)) * time.Millisecond // of the last grant in the window
	switch {
	case life == 0 && config > 0:
		return []Problem{{
			fmt.Sprintf("%s for ever, but the configuration %s", whose, span(config)),
			"they stay behind, and a limiter that is made anew under this name goes on with what was in use long before",
			p.mendLives(l),
		}}
	case life > 0 && p.Entries > 0 && life+slack < remaining:
		return []Problem{{
			fmt.Sprintf("%s %s, but the last grant leaves the window in %s", whose, span(life), span(remaining)),
			"permits that are in use then are granted again",
			p.mendLives(l),
		}}
	case life > 0 && p.Client == "" && (config == 0 || life+slack < config):
		return []Problem{{
			fmt.Sprintf("%s %s, but the configuration %s", whose, span(life), span(config)),
			"they go first, and what is in use then is forgotten and granted again",
			p.mendLives(l),
		}}
	}
	return nil
}

// unequalLives is a value that goes before its ledger, or after it.
func (p *Pair) unequalLives(l *Limiter) Problem {
	problem := Problem{
		fmt.Sprintf("the value %s lives %s, but the ledger %s", Shown(p.ValueKey), span(p.ValueTTL), span(p.LedgerTTL)),
		"when the value is gone, Redisson grants the whole rate once more",
		p.mendLives(l),
	}
	if p.ValueTTL == 0 || p.LedgerTTL > 0 && p.LedgerTTL < p.ValueTTL {
		problem.Means = "when the ledger is gone, every call of Redisson that finds too few permits fails for good"
	}
	return problem
}

// mendLives is how value and ledger get the time to live that they should have.
func (p *Pair) mendLives(l *Limiter) string {
	keys := shell(p.ValueKey) + " and " + shell(p.LedgerKey)
	switch {
	case l.Stored.Config.KeepAlive > 0 && p.Client == "":
		return "the next take of this library gives all keys the same"
	case l.Stored.Config.Mode == sluice.PerClient:
		return "this client's next take, if this library makes it, sets it right"
	case l.Stored.TTL == 0:
		return "make them stay: redis-cli PERSIST for each of " + keys
	}
	return "give them what the configuration has: redis-cli PEXPIRE for each of " + keys
}
