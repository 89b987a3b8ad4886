package replay

import (
	"fmt"
	"strings"
	"time"
)

// chartWidth is how wide the chart is, in columns.
const chartWidth = 80

// writeChart writes a row for each interval of the timeline: how many were allowed and refused, and a bar of both.
func (v *Report) writeChart(b *strings.Builder) {
	allowed, refused := "░", "█"
	if v.ascii {
		allowed, refused = ".", "#"
	}
	var most int64
	rows := [][]string{{"from", "allowed", "refused"}}
	for _, i := range v.Timeline {
		most = max(most, i.Allowed+i.Refused)
		rows = append(rows, []string{i.At.Format(v.rowForm()), thousands(i.Allowed), thousands(i.Refused)})
	}
	var table strings.Builder
	writeTable(&table, "<>>", rows)
	lines := strings.Split(strings.TrimSuffix(table.String(), "\n"), "\n")
	room := chartWidth - len(lines[0]) - 2

	fmt.Fprintf(b, "\n%s  each row %s; %s allowed, %s refused\n", lines[0], span(time.Duration(v.TimelineStep)*time.Millisecond), allowed, refused)
	for n, i := range v.Timeline {
		width, dark := bar(i.Allowed, i.Refused, most, room)
		row := lines[n+1] + "  " + strings.Repeat(allowed, width-dark) + strings.Repeat(refused, dark)
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
}

// rowForm is the layout of a row's time: as much as rows differ in.
func (v *Report) rowForm() string {
	step := time.Duration(v.TimelineStep) * time.Millisecond
	switch {
	case step >= 24*time.Hour:
		return time.DateOnly
	case v.oneDay() && step >= time.Minute:
		return "15:04"
	case v.oneDay():
		return time.TimeOnly
	case step >= time.Minute:
		return "01-02 15:04"
	}
	return "01-02 15:04:05"
}

// bar is how wide a bar is, and how much of it stands for refusals. What is not zero can be seen.
func bar(allowed, refused, most int64, room int) (width, dark int) {
	if allowed+refused == 0 {
		return 0, 0
	}
	scale := float64(room) / float64(most)
	width = max(1, int(float64(allowed+refused)*scale+0.5))
	if allowed > 0 && refused > 0 {
		width = max(2, width)
	}
	dark = int(float64(refused)*scale + 0.5)
	if refused > 0 {
		dark = max(1, dark)
	}
	if allowed > 0 {
		dark = min(dark, width-1)
	}
	return width, min(dark, width)
}
