package replay

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/sluice-rate/sluice"
)

// String is the report for people, without a newline at its end.
func (v *Report) String() string {
	var b strings.Builder
	v.writeHead(&b)
	v.writeCounts(&b)
	if len(v.Top) > 0 {
		v.writeTop(&b)
	}
	if len(v.Timeline) > 0 {
		v.writeChart(&b)
	}
	return strings.TrimRight(b.String(), "\n")
}

// writeHead says what was replayed, and under which limit.
func (v *Report) writeHead(b *strings.Builder) {
	to := time.TimeOnly
	if !v.oneDay() {
		to = time.DateTime
	}
	fmt.Fprintf(b, "%s: %s to %s, %s\n", printable(strings.Join(v.Files, ", ")),
		v.From.Format(time.DateTime), v.To.Format(to+" -0700"), span(v.To.Sub(v.From)))
	fmt.Fprintf(b, "%s for each %s, %s\n", v.Rate, v.Key, v.algorithm())
}

func (v *Report) algorithm() string {
	switch v.limit.Algorithm {
	case sluice.TokenBucket:
		return fmt.Sprintf("a bucket of %s", thousands(v.Burst))
	case sluice.FixedWindow:
		return "in fixed windows"
	case sluice.AlignedWindow:
		return "in windows aligned to the clock (UTC)"
	}
	return "in a sliding window"
}

func (v *Report) writeCounts(b *strings.Builder) {
	about := ""
	if v.KeysEstimated {
		about = "about "
	}
	rows := [][]string{
		{"lines", thousands(v.Lines), ""},
		{"  allowed", thousands(v.Allowed), percent(v.Allowed, v.Allowed+v.Refused)},
		{"  refused", thousands(v.Refused), percent(v.Refused, v.Allowed+v.Refused)},
	}
	if v.Unmatched > 0 {
		rows = append(rows, []string{"  unmatched", thousands(v.Unmatched), "have no such key, so are not limited"})
	}
	if v.Skipped > 0 {
		rows = append(rows, []string{"  skipped", thousands(v.Skipped), "not readable"})
	}
	if v.Late > 0 {
		rows = append(rows, []string{"  late", thousands(v.Late), "of all these; older than a line before, and taken as of its time"})
	}
	rows = append(rows, []string{"keys", about + thousands(v.Keys), about + thousands(v.KeysRefused) + " of them with refusals"})
	b.WriteByte('\n')
	writeTable(b, "<><", rows)
}

// writeTop writes the table of keys.
func (v *Report) writeTop(b *strings.Builder) {
	form := time.TimeOnly
	if !v.oneDay() {
		form = "01-02 15:04:05"
	}
	rows := [][]string{{"key", "requests", "refused", "first refusal", "last refusal", "longest wait"}}
	var missed int64
	for _, k := range v.Top {
		row := []string{v.cut(printable(k.Key)), thousands(k.Requests), thousands(k.Refused), "", "", ""}
		if k.Refused > 0 {
			row[3], row[4] = k.FirstRefusedAt.Format(form), k.LastRefusedAt.Format(form)
			row[5] = span(time.Duration(k.LongestRetryAfter) * time.Millisecond)
		}
		rows = append(rows, row)
		missed = max(missed, k.MissedAtMost)
	}
	b.WriteByte('\n')
	writeTable(b, "<>>>>>", rows)
	if v.KeysEstimated {
		b.WriteString("\nThere are too many keys to count each: how many is an estimate, within a few percent.\n")
		if missed > 0 {
			fmt.Fprintf(b, "Of a key above up to %s requests were not counted.\n", thousands(missed))
		}
	}
}

// oneDay reports whether the log is of one day, so that times need no date.
func (v *Report) oneDay() bool {
	return v.From.Format(time.DateOnly) == v.To.Format(time.DateOnly)
}

// maxKeyWidth is how many characters of a key are shown: those of an IPv6 address, for one.
const maxKeyWidth = 40

// cut shortens a text to what a table has room for.
func (v *Report) cut(s string) string {
	dots := "…"
	if v.ascii {
		dots = "..."
	}
	runes := []rune(s)
	if len(runes) <= maxKeyWidth {
		return s
	}
	return string(runes[:maxKeyWidth-len([]rune(dots))]) + dots
}

// printable has question marks for what could do something to a terminal: anybody may have written it into the log.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return '?'
		}
		return r
	}, s)
}

// writeTable writes columns, each flush left (<) or right (>).
func writeTable(b *strings.Builder, flush string, rows [][]string) {
	widths := make([]int, len(flush))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			gap := strings.Repeat(" ", widths[i]-len([]rune(cell)))
			if flush[i] == '>' {
				cell, gap = gap+cell, ""
			}
			line.WriteString(cell + gap + "  ")
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// percent is a share in words.
func percent(n, of int64) string {
	if of == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}

// span is a duration without the parts that are zero, or, where it is long, in days.
func span(d time.Duration) string {
	if d >= 72*time.Hour {
		return fmt.Sprintf("%.1f days", d.Hours()/24)
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
