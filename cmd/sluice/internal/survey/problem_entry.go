package survey

import "fmt"

// entryProblems are those of single entries.
func (p *Pair) entryProblems() (all []Problem) {
	key := "the ledger " + Shown(p.LedgerKey)
	if e := p.early[earlyForeign]; e.entries > 0 {
		all = append(all, Problem{
			fmt.Sprintf("%s holds %s of another library, dated up to %s in the future", key, count(e.entries, "entry", "entries"), span(e.most)),
			"the clock of the machine that wrote them is ahead of Redis' by so much at least, and Redisson waits for their permits for so much longer",
			"set that machine's clock; the next take of this library dates them at its own moment",
		})
	}
	if e := p.early[earlyOwn]; e.entries > 0 {
		all = append(all, Problem{
			fmt.Sprintf("%s holds %s of this library, dated up to %s in the future though nobody waits for so long", key, count(e.entries, "entry", "entries"), span(e.most)),
			"the clock of Redis' machine was set back, or another server with a slower clock has taken over",
			"the next take dates them at its own moment",
		})
	}
	for _, old := range oldFormats {
		if n := p.formats[old.format]; n > 0 {
			all = append(all, Problem{
				fmt.Sprintf("%s holds %s in the format of %v (%d bytes)", key, count(n, "entry", "entries"), old.format, old.size), old.means, old.do,
			})
		}
	}
	if n := p.formats[Counted]; n > 0 {
		all = append(all, Problem{
			fmt.Sprintf("%s holds %s that no known version wrote, though they can be read", key, count(n, "entry", "entries")),
			"they count for the permits that they name",
			"find out who writes them; they go by themselves when they have left the window",
		})
	}
	if n := p.formats[Unknown]; n > 0 {
		all = append(all, Problem{
			fmt.Sprintf("%s holds %s that no known version wrote and that cannot be read", key, count(n, "entry", "entries")),
			"they hold no permits here, but Redisson's calls fail when they have left the window, for as long as they are there",
			"find out who writes them; a take of this library sweeps them out when they have left the window",
		})
	}
	if p.wrapped > 0 {
		all = append(all, Problem{
			fmt.Sprintf("%s holds %s of more than two thousand million permits", key, count(p.wrapped, "entry", "entries")),
			"Redisson writes that for a number of permits below zero, and the limiter grants nothing until it has left the window",
			"ask only for one permit or more; to be rid of it now, sluice limiter delete and set",
		})
	}
	return all
}

// oldFormats are the formats that not all versions of Redisson can read.
var oldFormats = []struct {
	format    Format
	size      int
	means, do string
}{
	{
		Redisson3133, 8,
		"this library reads them, but every Redisson from 3.16.4 on fails on them when they have left the window, for as long as they are there",
		"bring all to one version; a take of this library sweeps them out when they have left the window",
	},
	{
		Redisson3164, 20,
		"this library reads them, but every Redisson from 3.17.0 on takes their random bytes for permits and counts wrong",
		"bring all to one version; a take of this library sweeps them out when they have left the window",
	},
	{
		Redisson317, 13,
		"this library and every Redisson from 3.17.0 on read them; older ones fail",
		"nothing if no older one runs",
	},
}
