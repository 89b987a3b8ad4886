package replay

import "time"

// stampLength is the length of a time such as 30/Nov/2026:10:00:00 +0100.
const stampLength = 26

// time reads a time into r. One that is the same as the last costs a comparison.
func (p *parser) time(b []byte, r *record) bool {
	if string(b) != string(p.stamp[:]) {
		at, ok := parseStamp(b)
		if !ok {
			return false
		}
		copy(p.stamp[:], b)
		p.at = at.Unix()
		_, p.offset = at.Zone()
	}
	r.at, r.offset = p.at, p.offset
	return true
}

// parseStamp reads what time.Parse reads with "02/Jan/2006:15:04:05 -0700", a leap second as well, in a tenth of the time.
func parseStamp(b []byte) (time.Time, bool) {
	if b[2] != '/' || b[6] != '/' || b[11] != ':' || b[14] != ':' || b[17] != ':' || b[20] != ' ' {
		return time.Time{}, false
	}
	month := month(b[3:6])
	day, year := two(b[0:]), two(b[7:])*100+two(b[9:])
	hour, minute, second := two(b[12:]), two(b[15:]), two(b[18:])
	if !within(year, 1971, 2199) || !within(hour, 0, 23) || !within(minute, 0, 59) || !within(second, 0, 60) {
		return time.Time{}, false
	}
	zoneHours, zoneMinutes := two(b[22:]), two(b[24:])
	if !within(zoneHours, 0, 23) || !within(zoneMinutes, 0, 59) {
		return time.Time{}, false
	}
	zone := zoneHours*3600 + zoneMinutes*60
	switch b[21] {
	case '-':
		zone = -zone
	case '+':
	default:
		return time.Time{}, false
	}
	date := time.Date(year, month, day, hour, minute, second, 0, time.UTC)
	if month == 0 || day < 1 || date.Day() != day && second < 60 {
		return time.Time{}, false // the 31st of February
	}
	return date.Add(-time.Duration(zone) * time.Second).In(zoneOf(zone)), true
}

// zoneOf is the time zone so many seconds east of UTC.
func zoneOf(offset int) *time.Location {
	if offset == 0 {
		return time.UTC
	}
	return time.FixedZone("", offset)
}

// two reads two digits; what is not two digits is far below zero.
func two(b []byte) int {
	tens, ones := b[0]-'0', b[1]-'0'
	if tens > 9 || ones > 9 {
		return -1_000_000
	}
	return int(tens)*10 + int(ones)
}

func within(n, least, most int) bool { return least <= n && n <= most }

// month reads an English month; 0 is none.
func month(b []byte) time.Month {
	const names = "JanFebMarAprMayJunJulAugSepOctNovDec"
	for i := 0; i < len(names); i += 3 {
		if string(b) == names[i:i+3] {
			return time.Month(i/3 + 1)
		}
	}
	return 0
}
