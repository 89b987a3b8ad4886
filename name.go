package sluice

import "strings"

// checkName refuses names whose keys would not lie in one slot of a Redis cluster, where every take would fail.
//
// The configuration's key is the name itself; the others wrap it, {name}:value, unless it holds a brace: then they
// append to it. So a name is fine when it has no brace, or a hash tag of its own: a '{' with a '}' after it and something between.
func checkName(name string) error {
	if name == "" {
		return &InvalidError{"name", name, "not empty"}
	}
	_, tag, open := strings.Cut(name, "{")
	if !open {
		if strings.Contains(name, "}") {
			return &InvalidError{"name", name, "without a '}' that no '{' opens: its keys would lie in two cluster slots"}
		}
		return nil
	}
	if end := strings.IndexByte(tag, '}'); end < 1 {
		return &InvalidError{"name", name, "with a hash tag that is closed and not empty, such as \"user:{42}\": its keys would lie in two cluster slots"}
	}
	return nil
}
