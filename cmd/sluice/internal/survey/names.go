package survey

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/sluice-rate/sluice"
)

// base is what the names of a limiter's value and ledger begin with: a name with a brace in it is taken to have a hash tag, any other
// becomes one. It is Redisson's rule.
func base(name string) string {
	if strings.Contains(name, "{") {
		return name
	}
	return "{" + name + "}"
}

// owners are the names of which a key of this base can be: two where the base is all hash tag.
func owners(base string) []string {
	inner, tag := strings.CutPrefix(base, "{")
	inner, end := strings.CutSuffix(inner, "}")
	switch {
	case tag && end && inner != "" && !strings.Contains(inner, "{"):
		return []string{inner, base}
	case strings.Contains(base, "{"):
		return []string{base}
	}
	return nil
}

// sibling is the other name that has the same value and ledger: foo and {foo}.
func sibling(name string) string {
	names := owners(base(name))
	if i := slices.Index(names, name); len(names) == 2 && i >= 0 && TwoSlots(name) == "" {
		return names[1-i]
	}
	return ""
}

// ledgerOf takes the name of a ledger's key apart; ok is false if no ledger is called so. client is "" for the one that all share.
func ledgerOf(key string) (base, client string, ok bool) {
	if base, ok := strings.CutSuffix(key, ":permits"); ok {
		return base, "", true
	}
	if i := strings.LastIndex(key, ":permits:"); i >= 0 {
		return key[:i], key[i+len(":permits:"):], true
	}
	return "", "", false
}

// TwoSlots says why a limiter of this name cannot work on a cluster; "" if it can.
func TwoSlots(name string) string {
	// A configuration without a rate is refused before it gets to an engine, and a bad name before the configuration.
	err := sluice.New(nil).Limiter(name).SetRate(context.Background(), sluice.Config{})
	if bad, ok := errors.AsType[*sluice.InvalidError](err); ok && bad.Field == "name" && name != "" {
		return bad.Want
	}
	return ""
}

// literal is a glob that matches only this text.
func literal(text string) string {
	return globSpecial.Replace(text)
}

var globSpecial = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`)

// Clients are the IDs of the clients of whom a value or a ledger is stored, in order. It goes through the names of all keys on the server.
func Clients(ctx context.Context, s Store, name string) ([]string, error) {
	base := base(name)
	node, err := s.MasterOf(ctx, base+":permits:")
	if err != nil {
		return nil, err
	}
	found := make(map[string]bool)
	for cursor, more := uint64(0), true; more; more = cursor != 0 {
		var keys []string
		if keys, cursor, err = node.Scan(ctx, cursor, literal(base)+":*:*", ""); err != nil {
			return nil, err
		}
		for _, key := range keys {
			rest := key[len(base):]
			id, ok := strings.CutPrefix(rest, ":permits:")
			if !ok {
				id, ok = strings.CutPrefix(rest, ":value:")
			}
			if ok && id != "" {
				found[id] = true
			}
		}
	}
	ids := make([]string, 0, len(found))
	for id := range found {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids, nil
}
