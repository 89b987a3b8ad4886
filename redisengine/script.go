package redisengine

import (
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"strings"
)

//go:embed lua/wrong_type.lua
var luaWrongType string

//go:embed lua/store.lua
var luaStore string

//go:embed lua/member.lua
var luaMember string

//go:embed lua/ledger.lua
var luaLedger string

//go:embed lua/settle.lua
var luaSettle string

//go:embed lua/fast.lua
var luaFast string

//go:embed lua/take.lua
var luaTake string

//go:embed lua/giveback.lua
var luaGiveBack string

//go:embed lua/look.lua
var luaLook string

//go:embed lua/configure.lua
var luaConfigure string

//go:embed lua/inspect.lua
var luaInspect string

//go:embed lua/alter.lua
var luaAlter string

//go:embed lua/inline_bytes.lua
var luaInlineBytes string

//go:embed lua/inline_fast.lua
var luaInlineFast string

//go:embed lua/inline_limits.lua
var luaInlineLimits string

//go:embed lua/inline_lists.lua
var luaInlineLists string

//go:embed lua/inline_bucket.lua
var luaInlineBucket string

//go:embed lua/inline_open.lua
var luaInlineOpen string

//go:embed lua/inline_close.lua
var luaInlineClose string

//go:embed lua/inline_place.lua
var luaInlinePlace string

//go:embed lua/charge.lua
var luaCharge string

//go:embed lua/lookat.lua
var luaLookAt string

//go:embed lua/refund.lua
var luaRefund string

// luaInlineState is the handling of states, which all scripts of inline limits have in common.
var luaInlineState = strings.Join([]string{luaWrongType, luaInlineLimits, luaInlineLists, luaInlineBucket, luaInlineOpen, luaInlineClose}, "\n")

var (
	scriptCharge = newScript("charge", luaInlineBytes, luaInlineFast, luaInlineState, luaInlinePlace, luaCharge)
	scriptLookAt = newScript("look at", luaInlineBytes, luaInlineState, luaInlinePlace, luaLookAt)
	scriptRefund = newScript("refund", luaInlineBytes, luaInlineState, luaRefund)

	scriptTake      = newLimiterScript("take", luaFast, luaWrongType, luaStore, luaMember, luaLedger, luaSettle, luaTake)
	scriptGiveBack  = newLimiterScript("give back", luaWrongType, luaStore, luaMember, luaLedger, luaGiveBack)
	scriptLook      = newLimiterScript("look", luaWrongType, luaStore, luaMember, luaLedger, luaSettle, luaLook)
	scriptConfigure = newLimiterScript("configure", luaWrongType, luaStore, luaMember, luaLedger, luaSettle, luaConfigure)
	scriptInspect   = newLimiterScript("inspect", luaWrongType, luaStore, luaMember, luaLedger, luaInspect)
	scriptAlter     = newLimiterScript("alter", luaWrongType, luaStore, luaAlter)
)

// script is one whole script, made of the files of the folder lua.
type script struct {
	name  string
	text  string
	sha1  string
	peers *script // what it is with Options.JavaPeers; nil: the same
}

func newScript(name string, parts ...string) *script {
	text := strings.Join(parts, "\n")
	sum := sha1.Sum([]byte(text))
	return &script{name: name, text: text, sha1: hex.EncodeToString(sum[:])}
}

// newLimiterScript makes a script that is another with Java peers.
func newLimiterScript(name string, parts ...string) *script {
	s := newScript(name, append([]string{"local JAVA_PEERS = false"}, parts...)...)
	s.peers = newScript(name, append([]string{"local JAVA_PEERS = true"}, parts...)...)
	return s
}
