package interop

import "testing"

// oldVersions are those of Redisson that wrote entries of other sizes: of 8, 8, 20 and 13 bytes.
var oldVersions = []string{"3.13.3", "3.16.3", "3.16.8", "3.17.0"}

// TestOld runs what testdata/old tells: what old versions have left is read right, and which of them can not stand beside this library.
func TestOld(t *testing.T) {
	t.Parallel()
	all := sections(t, "testdata/old/*.txt")
	for _, version := range oldVersions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			runSections(t, redisson(t, version), all, newGopher)
		})
	}
}
