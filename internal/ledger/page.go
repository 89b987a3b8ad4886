package ledger

import (
	"fmt"
	"strconv"
	"strings"
)

// Cursor is a place in the ledger between two entries: behind Skip entries of one score. The zero Cursor is the beginning.
// Entries that come and go elsewhere do not shift it.
type Cursor struct {
	Score int64
	Skip  int
}

// ParseCursor reads what String wrote; "" is the beginning.
func ParseCursor(s string) (Cursor, error) {
	if s == "" {
		return Cursor{}, nil
	}
	score, skip, _ := strings.Cut(s, "+")
	c := Cursor{}
	var err error
	if c.Score, err = strconv.ParseInt(score, 10, 64); err == nil {
		c.Skip, err = strconv.Atoi(skip)
	}
	if err != nil {
		return Cursor{}, fmt.Errorf("cursor %q is not one that Snapshot.Next gave", s)
	}
	return c, nil
}

// String is the form that ParseCursor reads.
func (c Cursor) String() string { return fmt.Sprintf("%d+%d", c.Score, c.Skip) }

// After is the cursor behind these entries, which were read from c on.
func (c Cursor) After(entries []Entry) Cursor {
	for _, e := range entries {
		if e.Score == c.Score {
			c.Skip++
		} else {
			c = Cursor{e.Score, 1}
		}
	}
	return c
}

// Page is at most limit entries of the window from the cursor on.
func (s *State) Page(cfg Config, now int64, from Cursor, limit int) []Entry {
	oldest := (now/1000 - cfg.Interval + 1) * ticks
	i := s.position(max(from.Score, oldest), Member{})
	if from.Score >= oldest {
		i += from.Skip
	}
	i = min(i, len(s.Entries))
	return s.Entries[i:min(len(s.Entries), i+limit)]
}

// Ahead reports whether an entry is dated after now.
func (e Entry) Ahead(now int64) bool { return e.Date() > (now+999)/1000 }
