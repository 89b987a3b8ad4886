package jvm

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
)

// Missing is what a machine lacks to run Redisson, as an error; nil if nothing.
var Missing = sync.OnceValue(func() error {
	for _, program := range []string{"java", "javac", "mvn"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("no %s in the PATH; to have it: apt-get install openjdk-17-jdk-headless maven", program)
		}
	}
	return nil
})

// building lets Maven run once at a time: it downloads into a folder that it has for all.
var building sync.Mutex

// build gives the folder with the driver for this version of Redisson and all that it needs. It runs Maven, which downloads, unless
// that was done before for the same driver: the folder lies in the user's cache.
func build(version string) (string, error) {
	building.Lock()
	defer building.Unlock()
	sources := driverFolder()
	sum, err := sumOf(sources)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	cache = filepath.Join(cache, "sluice-interop")
	done := filepath.Join(cache, version+"-"+sum)
	lib := filepath.Join(done, "lib")
	if _, err := os.Stat(lib); err == nil {
		return lib, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	out, err := os.MkdirTemp(cache, "building-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(out)
	mvn := exec.Command("mvn", "-q", "-B", "-f", filepath.Join(sources, "pom.xml"), "-Dredisson.version="+version, "-Dout="+out, "package")
	if text, err := mvn.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %w\n%s", mvn, err, text)
	}
	if err := os.Rename(out, done); err != nil {
		if _, other := os.Stat(lib); other != nil { // or another process was faster
			return "", err
		}
	}
	return lib, nil
}

// driverFolder is where the Java sources are.
func driverFolder() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "driver")
}

// sumOf tells one state of the files in a folder from another.
func sumOf(folder string) (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(sum, "%s %d\n%s", path[len(folder):], len(text), text)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil))[:12], err
}
