module github.com/sluice-rate/sluice

go 1.26.0
