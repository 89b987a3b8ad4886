package demo

import (
	"strings"
	"unicode/utf8"
)

// canvas is a picture made of characters. What is drawn outside of it is not seen.
type canvas struct {
	width int
	rows  [][]cell
}

type cell struct {
	r     rune
	style string // as in an escape sequence: "1;36"; "" for none
}

func newCanvas(width, height int) *canvas {
	c := &canvas{width: width, rows: make([][]cell, height)}
	for y := range c.rows {
		c.rows[y] = make([]cell, width)
	}
	return c
}

// text draws from x on and says where it ends.
func (c *canvas) text(x, y int, style, s string) int {
	for _, r := range s {
		if 0 <= x && x < c.width && 0 <= y && y < len(c.rows) {
			c.rows[y][x] = cell{r, style}
		}
		x++
	}
	return x
}

// beside draws s at the right edge of a row that is in use up to x, if there is room.
func (c *canvas) beside(x, y int, style, s string) {
	if begin := c.width - utf8.RuneCountInString(s); begin >= x+2 {
		c.text(begin, y, style, s)
	}
}

// fill draws a character from x to before end.
func (c *canvas) fill(x, end, y int, style string, r rune) {
	if end > x {
		c.text(x, y, style, strings.Repeat(string(r), end-x))
	}
}

// lines is the picture, a string for each row, with escape sequences if it is to be coloured.
func (c *canvas) lines(colour bool) []string {
	lines := make([]string, len(c.rows))
	for y, row := range c.rows {
		lines[y] = line(row, colour)
	}
	return lines
}

func line(row []cell, colour bool) string {
	var b strings.Builder
	style := ""
	for _, c := range row[:used(row)] {
		if colour && c.style != style {
			style = c.style
			b.WriteString("\x1b[0;" + style + "m")
		}
		b.WriteRune(max(c.r, ' '))
	}
	if style != "" {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}

// used is how much of a row has something in it.
func used(row []cell) int {
	n := len(row)
	for n > 0 && row[n-1].r <= ' ' {
		n--
	}
	return n
}
