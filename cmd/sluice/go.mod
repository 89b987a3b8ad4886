module github.com/sluice-rate/sluice/cmd/sluice

go 1.26.0

require (
	github.com/axiomhq/hyperloglog v0.3.0
	github.com/redis/go-redis/v9 v9.23.0
	github.com/sluice-rate/sluice v0.0.0
	github.com/urfave/cli/v3 v3.14.0
	golang.org/x/term v0.48.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dgryski/go-metro v0.0.0-20250106013310-edb8663e5e33 // indirect
	github.com/kamstrup/intmap v0.5.2 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/sluice-rate/sluice => ../..
