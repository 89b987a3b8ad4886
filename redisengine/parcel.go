package redisengine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/inline"
)

// parcel is what one script call carries: limits, each with the key of its state.
type parcel struct {
	keys   []string
	limits []inline.Limit
	keyOf  []int // the place in keys, of each limit
	places map[entitled]int
}

// entitled is a limit of a key.
type entitled struct {
	slot  sluice.Slot
	limit sluice.Limit
}

// add gives the place of a charge's limit in the parcel, where it is put if it is new. It reports false, and puts nothing there, if the key's state is in
// the parcel under another limit: each limit sees a state in its own way, so they go one after the other.
func (p *parcel) add(c sluice.Charge) (place int, ok bool) {
	id := entitled{c.Slot(), c.Limit()}
	if i, known := p.places[id]; known {
		return i, true
	}
	key := inlineKey(id.slot)
	if slices.Contains(p.keys, key) {
		return 0, false
	}
	if p.places == nil {
		p.places = make(map[entitled]int, 1)
	}
	place = len(p.limits)
	p.places[id] = place
	p.keyOf = append(p.keyOf, len(p.keys))
	p.keys = append(p.keys, key)
	l := c.Limit()
	made, _ := inline.Make(inline.Kind(l.Algorithm), l.Rate.Permits, l.Rate.Interval.Milliseconds(), l.Burst)
	p.limits = append(p.limits, made)
	return place, true
}

// args is the beginning of ARGV: see lua/inline_limits.lua.
func (p *parcel) args(now int64) []any {
	args := make([]any, 0, 2+9*len(p.limits)+8)
	args = append(args, now, len(p.limits))
	for i, l := range p.limits {
		args = append(args, p.keyOf[i]+1, int(l.Kind), l.Rate, l.Interval, l.Shift())
		if l.Kind == inline.Bucket {
			args = append(args, l.Burst, l.Cost, l.Leak, l.Tick)
		}
	}
	return args
}

// parcelOf is the parcel of the charges of one call, which have different slots.
func parcelOf(charges []sluice.Charge) *parcel {
	var p parcel
	for _, c := range charges {
		p.add(c)
	}
	return &p
}

const inlinePrefix = "sl:"

// letters is what tells the algorithms apart in a key.
const letters = "sbfa"

// inlineKey is where the state is: sl:{key}:s60000, with a tag sl:{tag}:key:s60000, with a name sl:{key}:s=name. What has a meaning
// there is escaped, so that no two slots share a key and no caller's input chooses the hash slot of another.
func inlineKey(s sluice.Slot) string {
	var b strings.Builder
	b.WriteString(inlinePrefix)
	b.WriteByte('{')
	if s.Tag != "" {
		escape.WriteString(&b, s.Tag)
		b.WriteString("}:")
		escape.WriteString(&b, s.Key)
	} else {
		escape.WriteString(&b, s.Key)
		b.WriteByte('}')
	}
	b.WriteByte(':')
	b.WriteByte(letters[s.Algorithm])
	if s.Name != "" {
		b.WriteByte('=')
		escapeName.WriteString(&b, s.Name)
	} else {
		b.WriteString(strconv.FormatInt(s.Interval.Milliseconds(), 10))
	}
	return b.String()
}

var (
	escape     = strings.NewReplacer("%", "%25", "{", "%7B", "}", "%7D")
	escapeName = strings.NewReplacer("%", "%25", ":", "%3A")
)
