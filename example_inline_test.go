package sluice_test

import (
	"context"
	"fmt"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/memengine"
)

// A limit that travels with the call needs no set-up: each key has the rate to itself.
func ExampleClient_Take() {
	ctx := context.Background()
	client := sluice.New(memengine.New(nil))
	perUser := sluice.Limit{Rate: sluice.Per(5, time.Minute)}

	for range 6 {
		o, err := client.Take(ctx, perUser.Charge("user:42"))
		fmt.Println(o.Allowed, o.Remaining, err)
	}
	// Output:
	// true 4 <nil>
	// true 3 <nil>
	// true 2 <nil>
	// true 1 <nil>
	// true 0 <nil>
	// false 0 <nil>
}

// Several windows and several keys in one call are taken together or not at all, in one round trip.
func ExampleClient_Take_several() {
	ctx := context.Background()
	client := sluice.New(memengine.New(nil))
	second, hour := sluice.Limit{Rate: sluice.Per(2, time.Second)}, sluice.Limit{Rate: sluice.Per(1000, time.Hour)}
	org := sluice.Limit{Rate: sluice.Per(5000, time.Hour)}

	for range 3 {
		o, _ := client.Take(ctx, second.Charge("user:42"), hour.Charge("user:42"), org.Charge("org:7"))
		fmt.Println(o.Allowed, o.Parts[0].Remaining, o.Parts[1].Remaining, o.Parts[2].Remaining, o.Refused())
	}
	// Output:
	// true 1 999 4999 []
	// true 0 998 4998 []
	// false 0 998 4998 [0]
}

// Four algorithms: the sliding window is the default.
func ExampleAlgorithm() {
	ctx := context.Background()
	clock := time.Date(2026, time.October, 1, 12, 0, 59, 0, time.UTC)
	client := sluice.New(memengine.New(&memengine.Options{Now: func() time.Time { return clock }}))
	for a := sluice.SlidingWindow; a <= sluice.AlignedWindow; a++ {
		limit := sluice.Limit{Rate: sluice.Per(60, time.Minute), Algorithm: a}
		client.Take(ctx, limit.ChargeN("u", 60))
	}

	clock = clock.Add(2 * time.Second) // now it is 12:01:01
	for a := sluice.SlidingWindow; a <= sluice.AlignedWindow; a++ {
		limit := sluice.Limit{Rate: sluice.Per(60, time.Minute), Algorithm: a}
		o, _ := client.Peek(ctx, limit.Charge("u"))
		fmt.Printf("%v: %d remain, the next in %v\n", a, o.Remaining, o.RetryAfter)
	}
	// Output:
	// sliding: 0 remain, the next in 58s
	// bucket: 2 remain, the next in 0s
	// fixed: 0 remain, the next in 58s
	// aligned: 60 remain, the next in 0s
}

// As many as can be had, up to ten.
func ExampleClient_TakeUpTo() {
	ctx := context.Background()
	client := sluice.New(memengine.New(nil))
	limit := sluice.Limit{Rate: sluice.Per(7, time.Minute)}

	o, err := client.TakeUpTo(ctx, 10, limit.Charge("batch"))
	fmt.Println(o.Allowed, o.Units, err)
	o, err = client.TakeUpTo(ctx, 10, limit.Charge("batch"))
	fmt.Println(o.Allowed, o.Units, err)
	// Output:
	// true 7 <nil>
	// false 0 <nil>
}

// A bucket holds a burst. Book says when the permits may be used; Wait sleeps until then.
func ExampleClient_Book() {
	ctx := context.Background()
	client := sluice.New(memengine.New(&memengine.Options{Now: func() time.Time { return time.Unix(1_800_000_000, 0) }}))
	limit := sluice.Limit{Rate: sluice.Per(10, time.Second), Algorithm: sluice.TokenBucket, Burst: 20}

	o, err := client.Book(ctx, time.Minute, limit.ChargeN("mail", 20))
	fmt.Println(o.Allowed, o.Wait, err)
	o, err = client.Book(ctx, time.Minute, limit.ChargeN("mail", 5))
	fmt.Println(o.Allowed, o.Wait, err)
	o, err = client.Book(ctx, time.Second, limit.ChargeN("mail", 20))
	fmt.Println(o.Allowed, o.RetryAfter, err)
	// Output:
	// true 0s <nil>
	// true 500ms <nil>
	// false 2.5s <nil>
}

// What was not used after all comes back, exactly that grant.
func ExampleClient_Refund() {
	ctx := context.Background()
	client := sluice.New(memengine.New(nil))
	charge := sluice.Limit{Rate: sluice.Per(5, time.Minute)}.ChargeN("user:42", 3)

	o, _ := client.Take(ctx, charge)
	fmt.Println(client.Refund(ctx, o.Receipt, charge))
	fmt.Println(client.Refund(ctx, o.Receipt, charge))
	// Output:
	// 3 <nil>
	// 0 <nil>
}

// Peek says what Take would answer, and writes nothing.
func ExampleClient_Peek() {
	ctx := context.Background()
	client := sluice.New(memengine.New(nil))
	limit := sluice.Limit{Rate: sluice.Per(5, time.Minute)}
	client.Take(ctx, limit.ChargeN("user:42", 4))

	o, err := client.Peek(ctx, limit.ChargeN("user:42", 1))
	fmt.Println(o.Allowed, o.Remaining, err)
	// Output: true 1 <nil>
}

// The limit belongs to the call, what is used to the key: a customer who goes over to a larger plan keeps what is used.
func ExampleLimit() {
	ctx := context.Background()
	client := sluice.New(memengine.New(nil))
	small, large := sluice.Limit{Rate: sluice.Per(100, time.Hour)}, sluice.Limit{Rate: sluice.Per(1000, time.Hour)}
	client.Take(ctx, small.ChargeN("customer:9", 100))

	o, err := client.Take(ctx, large.Charge("customer:9"))
	fmt.Println(o.Allowed, o.Remaining, err)
	// Output: true 899 <nil>
}

// Wait sleeps until the charges can be had, first come first served.
func ExampleClient_Wait() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	client := sluice.New(memengine.New(nil))
	limit := sluice.Limit{Rate: sluice.Per(1, time.Minute)}

	fmt.Println(client.Wait(ctx, limit.Charge("report")))
	fmt.Println(client.Wait(ctx, limit.Charge("report")) != nil) // a minute is more than the context allows
	// Output:
	// <nil>
	// true
}
