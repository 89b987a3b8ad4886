package oracle

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// field is one name=value of a line and where the value goes.
type field struct {
	name string
	to   any  // *int64, *string or *bool
	must bool // the line is bad without it
}

// scan reads name=value pairs, separated by spaces, into the fields. No name
// may come twice.
func scan(rest string, fields []field) error {
	var seen [8]bool // as many as any event has fields, and more
	for {
		rest = strings.TrimLeft(rest, " ")
		if rest == "" {
			break
		}
		name, behind, ok := strings.Cut(rest, "=")
		if !ok {
			return fmt.Errorf("no value: %q", rest)
		}
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		if i < 0 {
			return fmt.Errorf("unknown field %q", name)
		}
		if seen[i] {
			return fmt.Errorf("field %q twice", name)
		}
		seen[i] = true
		value, after, err := cutValue(behind)
		if err == nil {
			err = fields[i].set(value)
		}
		if err != nil {
			return fmt.Errorf("field %q: %w", name, err)
		}
		rest = after
	}
	for i, f := range fields {
		if f.must && !seen[i] {
			return fmt.Errorf("no field %q", f.name)
		}
	}
	return nil
}

// cutValue splits a value, quoted or not, from what comes after it.
func cutValue(s string) (value, rest string, err error) {
	if !strings.HasPrefix(s, `"`) {
		value, rest, _ = strings.Cut(s, " ")
		return value, rest, nil
	}
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", "", errors.New("open quote")
	}
	rest = s[len(quoted):]
	if rest != "" && rest[0] != ' ' {
		return "", "", errors.New("text behind the quote")
	}
	value, err = strconv.Unquote(quoted)
	return value, rest, err
}

// set stores a value. Texts are copied, so that they do not hold the line.
func (f field) set(value string) (err error) {
	switch to := f.to.(type) {
	case *int64:
		*to, err = strconv.ParseInt(value, 10, 64)
	case *bool:
		*to, err = strconv.ParseBool(value)
	case *string:
		*to = strings.Clone(value)
	}
	return err
}
