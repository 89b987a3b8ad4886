package legacy

import (
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
)

//go:embed lua/store.lua
var luaStore string

//go:embed lua/acquire.lua
var luaAcquire string

//go:embed lua/configure.lua
var luaConfigure string

//go:embed lua/inspect.lua
var luaInspect string

//go:embed lua/delete.lua
var luaDelete string

var (
	scriptAcquire   = newScript("acquire", luaStore+luaAcquire)
	scriptConfigure = newScript("configure", luaStore+luaConfigure)
	scriptInspect   = newScript("inspect", luaStore+luaInspect)
	scriptDelete    = newScript("delete", luaDelete)
)

// script is one whole script, made of the files of the folder lua.
type script struct {
	name string
	text string
	sha1 string
}

func newScript(name, text string) *script {
	sum := sha1.Sum([]byte(text))
	return &script{name, text, hex.EncodeToString(sum[:])}
}
