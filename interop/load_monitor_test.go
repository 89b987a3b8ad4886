package interop

import (
	"strconv"
	"strings"
)

// monitored reads a line such as: +1339518083.107412 [0 lua] "ZADD" "{x}:permits" …
func monitored(line string) (at int64, words []string) {
	clock, rest, ok := strings.Cut(strings.TrimPrefix(line, "+"), " ")
	seconds, micros, _ := strings.Cut(clock, ".")
	s, err1 := strconv.ParseInt(seconds, 10, 64)
	us, err2 := strconv.ParseInt(micros, 10, 64)
	_, rest, ok2 := strings.Cut(rest, "] ")
	if !ok || !ok2 || err1 != nil || err2 != nil {
		return 0, nil
	}
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return 0, nil
		}
		word, err := strconv.Unquote(quoted)
		if err != nil {
			return 0, nil
		}
		words, rest = append(words, word), rest[len(quoted):]
	}
	return s*1_000_000 + us, words
}
