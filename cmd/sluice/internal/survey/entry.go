package survey

import (
	"math"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/ledger"
)

// Entry is an entry of a ledger with what its bytes tell of its writer.
type Entry struct {
	sluice.Entry
	Format Format
	Client string        // whose ledger it is in; "" for the one that all share
	Early  time.Duration // how far ahead of now it is dated without being a reservation: by a fast clock, or before the store's was set back

	date float64 // in milliseconds, which may be beyond what At can say
}

// scale is how many steps of a score there are in a millisecond.
const scale = 1024

// newEntry reads what is stored.
func newEntry(z redis.Z, client string, now time.Time) Entry {
	member, _ := z.Member.(string)
	e := Entry{Format: formatOf(member), Client: client, date: math.Floor(z.Score)}
	const most = 1 << 52 // beyond all dates; times scale it still fits
	score := int64(max(-most, min(most, z.Score)) * scale)
	m, ours := ledger.ParseMember([]byte(member))
	if ours {
		e.Entry = sluice.LedgerEntry(score, m.ID, m.Permits, now)
	} else {
		e.Entry = sluice.Entry{At: time.UnixMilli(ledger.Entry{Score: score}.Date()), Permits: ledger.ForeignPermits(member), Kind: sluice.KindForeign}
	}
	if ahead := e.date - ceil(now) - patience(m); ahead > 0 {
		e.Early = time.Duration(min(e.date-ceil(now), maxEarly)) * time.Millisecond
	}
	return e
}

// maxEarly is the most that Early says, in milliseconds: a hundred years.
var maxEarly = float64(sluice.MaxInterval.Milliseconds())

// patience is how far ahead of now, in milliseconds, this library dates an entry by right: see internal/ledger, Member.
func patience(m ledger.Member) float64 {
	if !m.Own() {
		return 0
	}
	seconds := int(m.ID[3]) | int(m.ID[4])<<8 | int(m.ID[5])<<16
	if seconds == 1<<24-1 {
		return 1<<43 - 1
	}
	return float64(seconds) * 1000
}

// floor and ceil are a moment in whole milliseconds: what has left the window is judged by the one, what lies ahead by the other.
func floor(t time.Time) float64 { return float64(t.UnixMilli()) }

func ceil(t time.Time) float64 { return math.Ceil(float64(t.UnixMicro()) / 1000) }
