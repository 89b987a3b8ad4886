package cli

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// answer puts what a command found out on Stdout, in one line: as a JSON object, or as its String.
func (a *app) answer(asJSON bool, v fmt.Stringer) error {
	if !asJSON {
		_, err := fmt.Fprintln(a.Stdout, v)
		return err
	}
	e := json.NewEncoder(a.Stdout)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// permits is a number of permits in words.
func permits(n int64) string {
	if n == 1 {
		return "1 permit"
	}
	return strconv.FormatInt(n, 10) + " permits"
}

// milliseconds is d in whole milliseconds, rounded up: a wait that is cut short would be in vain.
func milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// roughly is d for people, likewise rounded up.
func roughly(d time.Duration) time.Duration {
	const most = 200 * 365 * 24 * time.Hour // a date that makes no sense can be further off than a Duration holds
	return time.Duration(milliseconds(min(d, most))) * time.Millisecond
}
